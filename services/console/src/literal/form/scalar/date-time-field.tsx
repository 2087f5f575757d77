import { useContext } from "react";
import { formatAge } from "../../../format/duration.js";
import { isDateTime } from "../../form-value.js";
import { dateTimeValue, readDateTime } from "../../scalar/date-time.js";
import type { FieldType } from "../../type/field-type.js";
import { FieldContext, useControlProps, type ValueProps } from "../field-context.js";
import rowStyles from "../field-row.module.css";
import styles from "../input.module.css";
import { Select } from "../select.js";

/** Date and time in a zone; the moment is shown in UTC. */
export function DateTimeField({ value, path, label, placeholder, onChange }: ValueProps<FieldType>) {
  const { zone: ownZone, nowMs } = useContext(FieldContext);
  const props = useControlProps(path, label);
  const { at, zone } = isDateTime(value) ? value : { at: "", zone: ownZone };
  const { value: moment } = readDateTime({ at, zone });
  const zones = [...new Set([zone, ownZone, "UTC"])];
  /** Keeps the moment in another zone. */
  const changeZone = (next: string): void =>
    onChange((moment === undefined || moment.includes(".") ? undefined : dateTimeValue(moment, next)) ?? { at, zone: next });
  return (
    <>
      <div className={styles.row}>
        <input
          {...props}
          className={styles.input}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder ?? "2026-11-14 08:30:00"}
          value={at}
          onChange={({ target }) => onChange({ at: target.value, zone })}
        />
        <Select narrow aria-label={`${label}: zone`} value={zone} onChange={({ target }) => changeZone(target.value)}>
          {zones.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
      </div>
      {moment !== undefined && (
        <p className={rowStyles.hint}>
          {moment} · {distance(Date.parse(moment) - nowMs)}
        </p>
      )}
    </>
  );
}

function distance(ms: number): string {
  return ms > 0 ? `in ${formatAge(ms)}` : `${formatAge(-ms)} ago`;
}
