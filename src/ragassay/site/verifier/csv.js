// Comma-separated values as Python's strict `csv.reader` takes them: what it refuses is refused here.
(() => {
  "use strict";

  const { NotCanonical } = ragassay.errors;
  const MAX_CELL = 131072;

  /** Return the records of a text, each as its cells; throws `NotCanonical` where the text is no CSV. */
  function parseCsv(text) {
    const reader = new Csv();
    for (const char of text) reader.take(char);
    return reader.end();
  }

  /** One character after another; `state` is where in a record the next one stands. */
  class Csv {
    constructor() {
      this.records = [];
      this.cells = [];
      this.cell = [];
      this.state = "record";
      this.afterReturn = false;
    }

    take(char) {
      const pair = char === "\n" && this.afterReturn; // a line feed that ends the line together with a return
      this.afterReturn = false;
      if (this.state === "quoted") {
        if (char === '"') this.state = "quote";
        else this.add(char);
      } else if (char === "\n" || char === "\r") {
        if (!pair) this.endRecord();
        this.afterReturn = char === "\r";
      } else if (char === ",") {
        this.endCell();
      } else if (char === '"' && this.state !== "cell") {
        if (this.state === "quote") this.add(char);
        this.state = "quoted";
      } else {
        if (this.state === "quote") throw new NotCanonical("something stands after a closing quote");
        this.state = "cell";
        this.add(char);
      }
    }

    add(char) {
      if (this.cell.length === MAX_CELL) throw new NotCanonical(`a cell has more than ${MAX_CELL} characters`);
      this.cell.push(char);
    }

    endCell() {
      this.cells.push(this.cell.join(""));
      this.cell = [];
      this.state = "start";
    }

    endRecord() {
      if (this.state !== "record") {
        this.endCell();
        this.records.push(this.cells);
      }
      this.cells = [];
      this.state = "record";
    }

    end() {
      if (this.state === "quoted") throw new NotCanonical("a quoted cell does not end");
      this.endRecord();
      return this.records;
    }
  }

  ragassay.csv = { parseCsv };
})();
