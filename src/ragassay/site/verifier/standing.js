// Whose a run is, when it was seen, and whether it was announced: ragassay/verify/standing.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { finding } = ragassay.report;
  const { SLACK_S, unpinned, failures } = ragassay.policy;
  const { namedKey } = ragassay.signature;
  const { checkInclusion } = ragassay.inclusion;
  const { readAnnouncement, checkBefore } = ragassay.announcement;
  const MANIFEST = "run.dsse.json";
  const RUN_PROOF = "run.tlog-proof";
  const INTENT = "intent.dsse.json";
  const INTENT_PROOF = "intent.tlog-proof";
  const REDACTION = "redaction.dsse.json";
  const REDACTION_PROOF = "redaction.tlog-proof";
  const REGISTRY = "ragassay-keys.json";

  /** Return the registry that was given, else the one beside the run; either must be one, whoever is trusted. */
  async function checkRegistry(files, given, findings) {
    const read = [];
    for (const data of [given, files.get(REGISTRY) || null]) {
      try {
        read.push(data === null ? null : await ragassay.registry.decodeRegistry(data));
      } catch (error) {
        if (!(error instanceof VerifyError)) throw error;
        findings.error(error, REGISTRY);
        read.push(null);
      }
    }
    return given === null ? read[1] : read[0];
  }

  /** Hold run, announcement and redaction against the policy, their proofs, and the whole log where it is given. */
  async function checkStanding(run, files, { policy, now, registry, log, findings }, redaction) {
    const { predicate } = run.statement;
    const place = await checkInclusion(files, RUN_PROOF, run.data, "the run", findings);
    const evidence = evidenceOf(MANIFEST, RUN_PROOF, predicate.signer, run, place, { now, registry, findings });
    const judged = await judge(policy, evidence, findings);
    noteChecks(policy, judged, evidence, findings);
    checkTime(predicate, judged.witnessed, now, findings);
    const intent = await readAnnouncement(predicate, files, findings);
    const announcing = intent && (await checkIntent(intent, predicate, files, place, policy, evidence, findings));
    const own = [evidence, ...(announcing ? announcing.accepted : [])];
    const redacting = redaction && (await checkRedaction(redaction.signed, judged, own, files, policy, findings));
    const places = [place, announcing ? announcing.place : null, redacting ? redacting.place : null];
    const redacted = redaction ? redaction.signed.bytes : null;
    const accept = accepting(policy, own, log, judged);
    const passes = await ragassay.wholeLog.checkLog(run, redacted, places, { policy, accept, log, findings });
    const announced = predicate.intent && {
      log: predicate.intent.log,
      index: predicate.intent.index,
      planned: intent ? intent.predicate.runs.length : null,
      witnessedAt: announcing ? announcing.witnessed : null,
      passes,
    };
    const pinned = judged.signer === "pinned";
    return { pinned, keyStatus: judged.keyStatus, witnessedAt: judged.witnessed, intent, announced };
  }

  function evidenceOf(where, proof, signer, signed, place, { now, registry, findings }) {
    return {
      where,
      proof,
      kid: signer.kid,
      x: namedKey(signer, findings, where),
      signedBy: signed.signedBy,
      now,
      checkpoint: place ? place.checkpoint : null,
      registry,
      registryVersion: signer.registryVersion,
      witnessed: null,
    };
  }

  /**
   * Ask the policy; a signature that it held against no key is held against the named one, and said to be that.
   *
   * That no key is pinned is said of the run and not again of its announcement.
   */
  async function judge(policy, evidence, findings) {
    let judged = await policy.judge(evidence);
    if (judged.signer === "unchecked") {
      const named = await unpinned().judge(evidence);
      judged = { ...judged, signer: named.signer, findings: [...judged.findings, ...named.findings] };
    }
    const isRun = evidence.where === MANIFEST;
    findings.extend(judged.findings.filter((one) => one.code !== "SIGNER_UNPINNED" || isRun));
    if (policy.logs.length === 0) {
      const unseen = "no log and witness that you trust are shown to hold the redaction";
      findings.extend([finding("UNWITNESSED", evidence.where === REDACTION ? unseen : null, evidence.proof)]);
    }
    return judged;
  }

  function noteChecks(policy, judged, evidence, findings) {
    findings.made("key");
    if (judged.signer === "unchecked") findings.notMade("signature", "there is no usable key to check it with");
    else findings.made("signature");
    if (policy.logs.length > 0) findings.made("trusted log and witnesses");
    else findings.notMade("trusted log and witnesses", "no log is pinned");
    if (judged.keyStatus !== null) {
      findings.made("status of the key in a registry");
    } else {
      const unlisted = "no root is pinned whose registry lists the key";
      const why = evidence.registry === null ? "no registry was given" : unlisted;
      findings.notMade("status of the key in a registry", why);
    }
  }

  function checkTime({ window }, witnessed, now, findings) {
    if (window !== null && window.end > now + SLACK_S) {
      findings.add("WINDOW", `its last answer is ${window.end - now} seconds in the future`, MANIFEST);
    }
    if (witnessed === null) {
      findings.add("UNTIMED", "no trusted witness says when the run was signed", RUN_PROOF);
    } else if (window !== null && witnessed < window.end - SLACK_S) {
      const message = `the run was witnessed ${window.end - witnessed} seconds before its last answer`;
      findings.add("WINDOW", message, RUN_PROOF);
    }
  }

  /** Hold the announcement against the policy as the run was, and against its time. */
  async function checkIntent(intent, predicate, files, ran, policy, ofRun, findings) {
    const { signer } = intent.predicate;
    const place = await checkInclusion(files, INTENT_PROOF, intent.bytes, "the announcement", findings);
    const { now, registry } = ofRun;
    const evidence = evidenceOf(INTENT, INTENT_PROOF, signer, intent, place, { now, registry, findings });
    const judged = await judge(policy, evidence, findings);
    if (judged.signer !== "pinned" && signer.kid !== predicate.signer.kid) {
      findings.add("INTENT_MISMATCH", "the announcement is signed by another key than the run", INTENT);
    }
    checkBefore(predicate, intent.predicate, place, ran, findings);
    const { window } = predicate;
    if (judged.witnessed === null || (window !== null && judged.witnessed > window.start)) {
      findings.add("UNTIMED", "no witness saw the announcement before the first answer", INTENT_PROOF);
    }
    const accepted = judged.signer === "pinned" && failures(judged, false) === 0 ? [evidence] : [];
    return { place, witnessed: judged.witnessed, accepted };
  }

  /**
   * Hold the redaction against the policy as the run was; only the run's publisher may say what is withheld from it.
   *
   * What is shown of a row that lost a text rests on this signature, so another publisher, whom one trusts as well,
   * could put words into the mouth of this one. Whose keys are the publisher's is as for the statements of a log:
   * `own` is the evidence of the run and of its announcement, where the policy accepts that; `ran` is what it said of
   * the run.
   */
  async function checkRedaction(redaction, ran, own, files, policy, findings) {
    const { signer } = redaction.predicate;
    const place = await checkInclusion(files, REDACTION_PROOF, redaction.bytes, "the redaction", findings);
    const { now, registry } = own[0];
    const evidence = evidenceOf(REDACTION, REDACTION_PROOF, signer, redaction, place, { now, registry, findings });
    const judged = await judge(policy, evidence, findings);
    const listed = ran.keyStatus !== null && judged.keyStatus !== null;
    if (!own.some(({ kid }) => kid === signer.kid) && !listed) {
      const message = "the redaction is signed by another key than the run, which no registry lists beside the run's";
      findings.add("REDACTION_MISMATCH", message, REDACTION);
    }
    return { place };
  }

  /**
   * Return what tells whether another statement of the log is by the run's publisher.
   *
   * That is the key of the run, that of an announcement which the policy accepts (`own` is the evidence of both) or,
   * where the run was accepted by a registry, another key that it lists: of two publishers whom one trusts, neither may
   * void the other's runs.
   */
  function accepting(policy, own, log, judged) {
    return async (signer, signedBy) => {
      const known = own.find((one) => one.kid === signer.kid);
      if (known !== undefined) return known.x !== null && signedBy(known.x);
      if (judged.keyStatus === null) return false;
      const { now, registry } = own[0];
      const checkpoint = log ? log.checkpoint : null;
      const other = { where: "log", proof: "log", kid: signer.kid, x: null, signedBy, now, checkpoint, registry };
      const theirs = await policy.judge({ ...other, registryVersion: null, witnessed: null });
      return theirs.keyStatus !== null && failures(theirs, false) === 0;
    };
  }

  ragassay.standing = { checkRegistry, checkStanding };
})();
