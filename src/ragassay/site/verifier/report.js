// What the verifier found: findings by reason code, checks made, checks not made and why: ragassay/verify/report.py.
(() => {
  "use strict";

  /** Return what `code` does to the answer: "fail" or "warn". */
  function severity(code, strict) {
    return ragassay.data.codes[code][strict ? "strict" : "plain"];
  }

  /** Return a finding of a code of the table; without a message it says what the code means. */
  function finding(code, message = null, where = null) {
    const reason = ragassay.data.codes[code];
    const { findingMessage, findingPlace } = ragassay.data.limits;
    const said = cut(message || reason.meaning, findingMessage);
    return { code, severity: reason.plain, message: said, where: where && cut(where, findingPlace) };
  }

  /** Return at most the first `most` code points of a text: a run's own words may have millions. */
  function cut(text, most) {
    return text.length > most ? [...text.slice(0, 2 * most)].slice(0, most).join("") : text;
  }

  /** Compare two texts by code points, as Python sorts them. */
  function byCodePoint(one, other) {
    const [left, right] = [[...one], [...other]];
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
      const difference = left[at].codePointAt(0) - right[at].codePointAt(0);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }

  /** Collects findings while a run is checked; keeps at most a number of each code and counts the rest. */
  class Findings {
    constructor() {
      this.found = [];
      this.seen = new Map();
      this.checks = [];
      this.left = [];
      this.shownAs = new Map();
    }

    /** Name the file `shown` in the place of `name` wherever a finding is in that one: a row, or the whole file. */
    showAs(name, shown) {
      this.shownAs.set(name, shown);
    }

    add(code, message = null, where = null) {
      const times = (this.seen.get(code) || 0) + 1;
      this.seen.set(code, times);
      if (times <= ragassay.data.limits.findingsPerCode) {
        this.found.push(finding(code, message, this.placeOf(where)));
      }
    }

    placeOf(where) {
      if (where === null || this.shownAs.size === 0) return where;
      const colon = where.indexOf(": ");
      const name = colon < 0 ? where : where.slice(0, colon);
      return `${this.shownAs.get(name) ?? name}${where.slice(name.length)}`;
    }

    /** Note findings that were made elsewhere, each that is not noted yet. */
    extend(findings) {
      for (const { code, message, where } of findings) {
        const known = this.found.some((one) => one.code === code && one.message === message && one.where === where);
        if (!known) this.add(code, message, where);
      }
    }

    error(error, where = null) {
      this.add(error.code, error.message, where);
    }

    made(check) {
      this.checks.push(check);
    }

    notMade(check, why) {
      this.left.push({ check, why });
    }

    /** Return {findings (failures first), made, notMade}. */
    results() {
      const most = ragassay.data.limits.findingsPerCode;
      const more = [...this.seen]
        .filter(([, times]) => times > most)
        .map(([code, times]) => finding(code, `and ${times - most} more of this kind`));
      const all = [...this.found, ...more];
      const failed = all.filter((one) => one.severity === "fail");
      return {
        findings: [...failed, ...all.filter((one) => one.severity !== "fail")],
        made: this.checks,
        notMade: this.left,
      };
    }
  }

  /** Tell whether no finding of a report fails; `strict` turns most warnings into failures. */
  function ok(report, strict = false) {
    return report.findings.every((one) => severity(one.code, strict) === "warn");
  }

  ragassay.report = { severity, finding, byCodePoint, Findings, ok };
})();
