import { Button, IconButton } from "../../control/button.js";
import { formatRaw } from "../../literal/convert/raw-literal.js";
import { fromLiteral } from "../../literal/convert/from-literal.js";
import { toLiteral } from "../../literal/convert/to-literal.js";
import { type FormValue, isRaw } from "../../literal/form-value.js";
import { isChanged } from "../../literal/form/field-context.js";
import { FieldRow } from "../../literal/form/field-row.js";
import { WasText } from "../../literal/form/compound/object-fields.js";
import { ValueField } from "../../literal/form/value-field.js";
import { literalText } from "../../literal/literal-text.js";
import { typeName } from "../../literal/type/type-name.js";
import styles from "./launch-page.module.css";
import { isDefault } from "./launch-request.js";
import type { LaunchState } from "./launch-state.js";
import type { LaunchInput, LaunchTarget } from "./target.js";

interface InputListProps {
  readonly target: LaunchTarget;
  readonly state: LaunchState;
  readonly start: LaunchState;
  /** Marks what differs from the start, which an execution gave. */
  readonly isMarked: boolean;
  onChange(values: LaunchState["values"]): void;
}

/** Inputs of what is launched; those that its launch plan fixes are shown as they are. */
export function InputList({ target, state, start, isMarked, onChange }: InputListProps) {
  const { inputs, fixed } = target;
  const fixedInputs = Object.entries(fixed);
  return (
    <section aria-label="Inputs">
      <h2 className={styles.section}>Inputs</h2>
      {inputs.length === 0 && <p className={styles.none}>It has no inputs{fixedInputs.length > 0 && " besides those that are fixed"}.</p>}
      {inputs.map((input) => (
        <InputField
          key={input.name}
          input={input}
          value={state.values[input.name]}
          base={start.values[input.name]}
          isMarked={isMarked}
          onChange={(value) => {
            const { [input.name]: _, ...rest } = state.values;
            onChange(value === undefined ? rest : { ...rest, [input.name]: value });
          }}
        />
      ))}
      {fixedInputs.length > 0 && (
        <dl className={styles.fixed}>
          {fixedInputs.map(([name, literal]) => (
            <div key={name}>
              <dt>{name}, fixed by the launch plan</dt>
              <dd>
                <code>{literalText(literal).text}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

interface InputFieldProps {
  readonly input: LaunchInput;
  readonly value: FormValue | undefined;
  readonly base: FormValue | undefined;
  readonly isMarked: boolean;
  onChange(value: FormValue | undefined): void;
}

/** One input: its value, its default, or none. */
function InputField({ input, value, base, isMarked, onChange }: InputFieldProps) {
  const { name, type, description, required, fallback } = input;
  const changed = isMarked && JSON.stringify(value) !== JSON.stringify(base);
  const atDefault = isDefault(input, value);
  const reset = (): void => onChange(fallback === undefined ? undefined : fromLiteral(type, fallback));
  const state = atDefault
    ? "default"
    : value === undefined
      ? required
        ? "needs a value"
        : "no value"
      : value === ""
        ? "empty"
        : undefined;
  return (
    <FieldRow
      name={name}
      type={typeName(type)}
      path={name}
      isChanged={changed}
      hint={description === name ? "" : description}
      end={
        <>
          {changed && <WasText base={base} />}
          {state !== undefined && <span>{state}</span>}
          {value !== undefined && !atDefault && (fallback !== undefined || !required) && (
            <Button small kind="quiet" onClick={reset}>
              {fallback === undefined ? "Take away" : "Use default"}
            </Button>
          )}
          {type.kind !== "raw" && (
            <IconButton
              icon="braces"
              label={isRaw(value) ? `Form of ${name}` : `${name} as a literal`}
              aria-pressed={isRaw(value)}
              onClick={() => onChange(toggleRaw(input, value))}
            />
          )}
        </>
      }
    >
      <ValueField
        type={type}
        value={value}
        path={name}
        label={name}
        placeholder={value === undefined ? "no value" : undefined}
        base={isMarked && isChanged(value, base) ? base : undefined}
        onChange={onChange}
      />
    </FieldRow>
  );
}

/** Changes between the form of a type and the JSON of its literal. */
function toggleRaw({ type, name }: LaunchInput, value: FormValue | undefined): FormValue | undefined {
  if (isRaw(value)) {
    const literal = toLiteral(type, value, name, []);
    const read = literal && fromLiteral(type, literal);
    return isRaw(read) ? value : read;
  }
  const literal = value === undefined ? undefined : toLiteral(type, value, name, []);
  return { raw: literal === undefined ? "" : formatRaw(literal) };
}
