// A manifest in which places depend on the chart's values: plain data with these nodes in it.

/** A piece of a manifest that is there when a condition of the template language holds: an entry of a map or an item of a list. */
export class When {
  constructor(condition, value) {
    this.condition = condition;
    this.value = value;
  }
}

/** A scalar that a template expression gives. */
export class Scalar {
  constructor(expression) {
    this.expression = expression;
  }
}

/** A map or list that a template expression gives, as an entry of a map. */
export class Block {
  constructor(expression) {
    this.expression = expression;
  }
}

/** The same, where the entry is left out when there is nothing in it. */
export class OptionalBlock extends Block {}

/** The entries or items of a value, after those that are there. */
export class Spread {
  constructor(expression) {
    this.expression = expression;
  }
}

/** A text that holds a value written as YAML. */
export class Document {
  constructor(expression) {
    this.expression = expression;
  }
}
