import { Link } from "@tanstack/react-router";
import type { WaitGroupJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { Scope } from "../../api/scope.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { PlainTable } from "../../control/plain-table.js";
import { Time } from "../../control/time.js";
import cells from "../../entity/cells.module.css";
import { formatCount } from "../../format/count.js";
import { readTimeMs } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";

interface WaitsCardProps {
  readonly scope: Scope;
  readonly waits: readonly WaitGroupJson[] | undefined;
  readonly error: Error | null;
}

/** Executions of the project and domain that cannot continue, by reason. */
export function WaitsCard({ scope, waits, error }: WaitsCardProps) {
  return (
    <Card title="What waits for what" note={`${scope.project} / ${scope.domain}`}>
      {error !== null && waits === undefined && <ErrorPanel title="Waiting executions cannot be listed" error={error} />}
      {waits?.length === 0 && <Note>Nothing waits.</Note>}
      {waits !== undefined && waits.length > 0 && (
        <PlainTable
          label="Waiting executions"
          columns={[
            { title: "Reason", cell: ({ reason }) => reason },
            { title: "Executions", end: true, cell: ({ count = 0 }) => formatCount(count) },
            { title: "Since", cell: ({ since }) => <Time timeMs={readTimeMs(since)} /> },
            {
              title: "Longest",
              cell: ({ executions: [name = ""] = [] }) => (
                <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...scope, name }} className={cells.name}>
                  {name}
                </Link>
              ),
            },
          ]}
          rows={waits}
          rowId={({ reason = "" }) => reason}
        />
      )}
    </Card>
  );
}
