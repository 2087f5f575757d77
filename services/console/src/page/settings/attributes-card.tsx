import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { useRights } from "../../frame/use-role.js";
import { AttributeDialog } from "./attribute-dialog.js";
import { attributePlace, type AttributeRow, attributeRows, changedPlace } from "./attribute-kinds.js";
import { attributesQuery } from "./queries.js";
import styles from "./settings-page.module.css";
import { useSettingActs } from "./use-setting-acts.js";

/** Attributes of the project and domain, the value that is used first. */
export function AttributesCard({ scope }: { readonly scope: Scope }) {
  const { data, error, refetch } = useQuery(attributesQuery(useApp(), scope));
  const refused = useRights(scope).refusal("admin");
  const { change } = useSettingActs();
  const { api } = useApp();
  const [edited, setEdited] = useState<AttributeRow | "new">();
  const rows = attributeRows(data?.configurations ?? []);
  const remove = (row: AttributeRow): void => {
    const place = changedPlace(scope, row);
    if (place === undefined) return;
    change({
      call: () => api.platform.deleteAttributes(place, row.kind.resource),
      done: `${row.kind.title} of ${attributePlace(row)} are deleted`,
    });
  };
  return (
    <Card
      title="Attributes"
      note={
        <Button small icon="plus" refused={refused} onClick={() => setEdited("new")}>
          Set an attribute
        </Button>
      }
    >
      {error !== null && data === undefined && (
        <ErrorPanel title="The attributes cannot be listed" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && rows.length === 0 && (
        <Note>None is set: executions use the configuration of admin, their launch plan and their request.</Note>
      )}
      {rows.length > 0 && (
        <PlainTable
          label="Attributes"
          columns={[...COLUMNS, actColumn({ scope, refused, onEdit: setEdited, onDelete: remove })]}
          rows={rows}
          rowId={(row) => `${row.kind.field} ${attributePlace(row)}`}
        />
      )}
      {data?.truncated === true && <Note>There are more attributes of workflows than are shown.</Note>}
      {edited !== undefined && (
        <AttributeDialog scope={scope} edited={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Card>
  );
}

const COLUMNS: readonly PlainColumn<AttributeRow>[] = [
  { title: "Attribute", cell: ({ kind }) => kind.title },
  { title: "Place", cell: attributePlace },
  { title: "Value", cell: ({ value }) => <code className={styles.value}>{JSON.stringify(value, undefined, 1)}</code> },
  {
    title: "Effect",
    cell: ({ overriddenBy, workflow }) =>
      overriddenBy === undefined ? (
        <Pill kind="ok">{workflow === "" ? "in effect" : "in effect there"}</Pill>
      ) : (
        <Pill>overridden by {overriddenBy}</Pill>
      ),
  },
];

interface ActColumnProps {
  readonly scope: Scope;
  readonly refused: string | undefined;
  onEdit(row: AttributeRow): void;
  onDelete(row: AttributeRow): void;
}

/** Acts on attributes where they are. */
function actColumn({ scope, refused, onEdit, onDelete }: ActColumnProps): PlainColumn<AttributeRow> {
  return {
    title: "Acts",
    end: true,
    cell: (row) =>
      changedPlace(scope, row) !== undefined && (
        <span className={styles.acts}>
          <Button
            small
            kind="quiet"
            refused={refused}
            aria-label={`Edit ${row.kind.title} of ${attributePlace(row)}`}
            onClick={() => onEdit(row)}
          >
            Edit
          </Button>
          <Button
            small
            kind="quiet"
            refused={refused}
            aria-label={`Delete ${row.kind.title} of ${attributePlace(row)}`}
            onClick={() => onDelete(row)}
          >
            Delete
          </Button>
        </span>
      ),
  };
}
