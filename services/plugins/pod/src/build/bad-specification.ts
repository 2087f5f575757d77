/** A task that no pod can be made of; the message names the field and the rule. */
export class BadSpecification extends Error {
  override readonly name = "BadSpecification";
}
