import { useState } from "react";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { useNow, usePreferences } from "../../../app/app.js";
import { Button } from "../../../control/button.js";
import { zoneName } from "../../../format/time.js";
import { startInput } from "../../../literal/convert/start-value.js";
import { toLiteral } from "../../../literal/convert/to-literal.js";
import type { FormValue, Problem } from "../../../literal/form-value.js";
import { FieldContext } from "../../../literal/form/field-context.js";
import { FieldRow } from "../../../literal/form/field-row.js";
import { ValueField } from "../../../literal/form/value-field.js";
import { readType } from "../../../literal/type/read-type.js";
import { typeName } from "../../../literal/type/type-name.js";
import type { Gate } from "./find-gate.js";

const MINUTE_MS = 60_000;

interface SignalFormProps {
  readonly gate: Gate;
  readonly refused: string | undefined;
  readonly isPending: boolean;
  onSend(value: LiteralJson): void;
}

/** Value of the type that a gate node waits for. */
export function SignalForm({ gate, refused, isPending, onSend }: SignalFormProps) {
  const zone = zoneName(usePreferences().zone) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const nowMs = useNow(MINUTE_MS);
  const type = readType(gate.type);
  const [value, setValue] = useState<FormValue | undefined>(() => startInput(type, zone));
  const [isTried, setTried] = useState(false);
  const problems: Problem[] = [];
  const literal = toLiteral(type, value, gate.signalId, problems);
  const shown = problems.filter(({ isEmpty }) => isTried || isEmpty !== true);
  return (
    <FieldContext value={{ problems: new Map(shown.map(({ path, text }) => [path, text])), zone, nowMs }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (literal !== undefined && refused === undefined) onSend(literal);
        }}
      >
        <FieldRow name={gate.signalId} type={typeName(type)} path={gate.signalId}>
          <ValueField type={type} value={value} path={gate.signalId} label={gate.signalId} onChange={setValue} />
        </FieldRow>
        <Button type="submit" kind="primary" icon="check" refused={refused} disabled={isPending}>
          Send
        </Button>
      </form>
    </FieldContext>
  );
}
