// The pack's adapter for the verifier in JavaScript:
//
//   node conformance/adapters/javascript.mjs PAGE verify BUNDLE --now SECONDS [--policy FILE] [--registry FILE]
//        [--log FOLDER] [--report]
//
// PAGE is a verify.html (`ragassay export verifier` writes one): its script is taken out and run as it stands, so that
// what is tested is what people open. BUNDLE is a zip or a run folder. --report prints the whole report instead of the
// pack's answer.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { runInThisContext } from "node:vm";

function parse(words) {
  const [page, verb, bundle, ...rest] = words;
  const given = { page, verb, bundle, report: false };
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === "--report") given.report = true;
    else if (["--now", "--policy", "--registry", "--log"].includes(rest[at])) given[rest[at].slice(2)] = rest[++at];
    else throw new Error(`unknown option ${rest[at]}`);
  }
  if (verb !== "verify" || bundle === undefined || !/^[0-9]+$/.test(given.now ?? "")) {
    throw new Error("usage: PAGE verify BUNDLE --now SECONDS [--policy FILE] [--registry FILE] [--log FOLDER] [--report]");
  }
  return given;
}

const bytesOf = (path) => new Uint8Array(readFileSync(path));

function filesUnder(folder) {
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  const files = paths.filter((path) => statSync(path).isFile());
  return new Map(files.map((path) => [relative(folder, path).split("\\").join("/"), bytesOf(path)]));
}

function loadScript(page) {
  const html = readFileSync(page, "utf8");
  const start = html.lastIndexOf("<script>") + "<script>".length;
  const end = html.indexOf("</script>", start);
  if (start < "<script>".length || end < 0) throw new Error(`${page} holds no inline script`);
  runInThisContext(html.slice(start, end), { filename: page });
  return globalThis.ragassay;
}

async function readBundle(ragassay, path) {
  if (!statSync(path).isDirectory()) return ragassay.readBundle(bytesOf(path));
  return { files: filesUnder(path), problems: [] };
}

async function main() {
  const given = parse(process.argv.slice(2));
  const ragassay = loadScript(given.page);
  const { files, problems } = await readBundle(ragassay, given.bundle);
  const policy = given.policy
    ? ragassay.policyFile.loadPolicy(bytesOf(given.policy))
    : ragassay.policy.unpinned();
  const registry = given.registry ? bytesOf(given.registry) : null;
  let log = null;
  try {
    if (given.log) log = ragassay.tiles.readLog(filesUnder(given.log));
  } catch (error) {
    if (!(error instanceof ragassay.errors.VerifyError)) throw error;
    problems.push(error);
  }
  const report = await ragassay.verify({ files, policy, now: Number(given.now), log, registry, problems });
  const codes = [...new Set(report.findings.map((finding) => finding.code))].sort();
  const answer = { codes, ok: ragassay.report.ok(report), strictOk: ragassay.report.ok(report, true) };
  process.stdout.write(`${JSON.stringify(given.report ? report : answer)}\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
