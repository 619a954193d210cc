// Hold our Sigstore bundles against @sigstore/verify: `node check.js FOLDER`, with its packages installed beside it.
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundleFromJSON } from "@sigstore/bundle";
import { Verifier, toSignedEntity, toTrustMaterial } from "@sigstore/verify";

const NO_ROOT = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
const BARE_KEY = { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 };
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex"); // RFC 8410: an Ed25519 key's DER before its bytes

function accepts({ bundle, kid, x }) {
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(x, "hex")]), format: "der", type: "spki" });
  const trusted = toTrustMaterial(NO_ROOT, (hint) => {
    if (hint !== kid) throw new Error(`no key ${hint}`);
    return { publicKey: key, validFor: () => true };
  });
  try {
    new Verifier(trusted, BARE_KEY).verify(toSignedEntity(bundleFromJSON(JSON.parse(bundle))));
    return true;
  } catch {
    return false;
  }
}

const { sigstore } = JSON.parse(readFileSync(join(process.argv[2], "vectors.json"), "utf8"));
const wrong = sigstore.filter((one) => accepts(one) !== one.holds).map((one) => `@sigstore/verify says ${!one.holds} of ${one.name}`);
console.log(wrong.join("\n") || `bundles: @sigstore/verify agrees on ${sigstore.length}`);
process.exit(wrong.length || !sigstore.length ? 1 : 0);
