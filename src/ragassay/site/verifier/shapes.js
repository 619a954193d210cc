// The shapes of records, checked as strictly as Python does; `ragassay.data.shapes` is made from its record classes.
(() => {
  "use strict";

  const { NotCanonical } = ragassay.errors;
  const PLAIN = {
    any: () => true,
    null: (value) => value === null,
    boolean: (value) => typeof value === "boolean",
    integer: (value) => Number.isSafeInteger(value),
    string: (value) => typeof value === "string",
  };
  const REFUSED = Symbol("refused");
  const readers = new Map();

  function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }

  /**
   * Return `value` as the record called `name`: every member of its type, absent ones by their defaults.
   *
   * Throws `NotCanonical` where a member is missing, unknown or of another type. Free-form members stay as they are.
   */
  function convert(value, name) {
    const found = record(name)(value);
    if (found === REFUSED) throw new NotCanonical(`no ${name}: a member is missing, unknown or of another type`);
    return found;
  }

  /** Return the function that reads a record, made once: it returns the record, or REFUSED. */
  function record(name) {
    if (!readers.has(name)) {
      const shape = ragassay.data.shapes[name];
      const members = Object.keys(shape).map((member) => ({
        member,
        read: reader(shape[member].type),
        required: !("default" in shape[member]),
        // A default is written out once more for each record, so that none can change another's.
        given: JSON.stringify(shape[member].default),
      }));
      readers.set(name, (value) => readRecord(value, members));
    }
    return readers.get(name);
  }

  function readRecord(value, members) {
    if (!isObject(value)) return REFUSED;
    const found = {};
    let known = 0;
    for (const { member, read, required, given } of members) {
      if (Object.prototype.hasOwnProperty.call(value, member)) {
        const inside = read(value[member]);
        if (inside === REFUSED) return REFUSED;
        found[member] = inside;
        known++;
      } else if (required) {
        return REFUSED;
      } else {
        found[member] = JSON.parse(given);
      }
    }
    return known === Object.keys(value).length ? found : REFUSED;
  }

  function reader(type) {
    if (typeof type === "string") {
      const fits = PLAIN[type];
      return (value) => (fits(value) ? value : REFUSED);
    }
    if ("enum" in type) {
      const allowed = new Set(type.enum);
      return (value) => (allowed.has(value) ? value : REFUSED);
    }
    if ("array" in type) return arrayReader(reader(type.array));
    if ("map" in type) return mapReader(reader(type.map));
    if ("record" in type) return (value) => record(type.record)(value);
    return eitherReader(type.either.map(reader));
  }

  function arrayReader(inside) {
    return (value) => {
      if (!Array.isArray(value)) return REFUSED;
      const found = value.map(inside);
      return found.includes(REFUSED) ? REFUSED : found;
    };
  }

  function mapReader(inside) {
    return (value) => {
      if (!isObject(value)) return REFUSED;
      return Object.keys(value).some((name) => inside(value[name]) === REFUSED) ? REFUSED : value;
    };
  }

  function eitherReader(choices) {
    return (value) => {
      for (const read of choices) {
        const found = read(value);
        if (found !== REFUSED) return found;
      }
      return REFUSED;
    };
  }

  ragassay.shapes = { convert, isObject };
})();
