// Does a log hold a statement? Its proof against the checkpoint that it carries: ragassay/verify/inclusion.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;

  /** Return {index, checkpoint} where the proof file `name` shows the bytes `entry`, else null. */
  async function checkInclusion(files, name, entry, what, findings) {
    const check = `inclusion of ${what} in a log`;
    if (!files.has(name)) {
      findings.notMade(check, `${name} is not there`);
      return null;
    }
    findings.made(check);
    try {
      const proof = await ragassay.tlog.decodeProof(files.get(name));
      if (await proof.includes(entry)) return { index: proof.index, checkpoint: await proof.signed() };
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      findings.error(error, name);
      return null;
    }
    const message = `the proof does not lead from ${what} to the root of its checkpoint`;
    findings.add("LOG_INCLUSION", message, name);
    return null;
  }

  ragassay.inclusion = { checkInclusion };
})();
