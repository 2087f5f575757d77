// Nodes of a manifest that depends on the chart's values; everything else in it is plain data.

/** A map entry or list item that exists under a condition of the template language. */
export class When {
  constructor(condition, value) {
    this.condition = condition;
    this.value = value;
  }
}

/** A scalar from a template expression. */
export class Scalar {
  constructor(expression) {
    this.expression = expression;
  }
}

/** A map or list from a template expression, as a map entry. */
export class Block {
  constructor(expression) {
    this.expression = expression;
  }
}

/** The same, omitted when it is empty. */
export class OptionalBlock extends Block {}

/** Appends the entries or items of a value to the existing ones. */
export class Spread {
  constructor(expression) {
    this.expression = expression;
  }
}

/** A text that contains a value as YAML. */
export class Document {
  constructor(expression) {
    this.expression = expression;
  }
}
