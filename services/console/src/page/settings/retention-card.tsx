import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { DeletionJson, RefusalJson } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import form from "../../control/form.module.css";
import { PlainTable } from "../../control/plain-table.js";
import { formatCount } from "../../format/count.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";
import { previewQuery, retentionQuery } from "./queries.js";
import { daysToKeep, keepText, policyPlace } from "./retention-text.js";
import styles from "./settings-page.module.css";
import { useSettingActs } from "./use-setting-acts.js";

/** Retention of executions: the policy that applies, and what it would delete now. */
export function RetentionCard({ scope }: { readonly scope: Scope }) {
  const app = useApp();
  const policy = useQuery(retentionQuery(app, scope));
  const preview = useQuery(previewQuery(app, scope));
  const failed = policy.error ?? preview.error;
  const { deletions = [], kept = [], more = false } = preview.data ?? {};
  return (
    <>
      <Card title="Retention" note={`${scope.project} / ${scope.domain}`}>
        {failed !== null && <ErrorPanel title="The retention cannot be read" error={failed} onRetry={() => void policy.refetch()} />}
        {policy.data !== undefined && (
          <Note>
            Ended executions are kept <b>{keepText(policy.data.policy)}</b>, as set for{" "}
            {policyPlace(policy.data.policy, policy.data.configured === true)}.
          </Note>
        )}
        <RetentionForm scope={scope} />
      </Card>
      {preview.data !== undefined && (
        <Card title="Preview" note={`${formatCount(deletions.length)}${more ? "+" : ""} would be deleted now`}>
          {deletions.length + kept.length === 0 && <Note>No execution is due.</Note>}
          {deletions.length + kept.length > 0 && (
            <PlainTable
              label="Executions that are due"
              columns={COLUMNS(scope)}
              rows={[...deletions, ...kept]}
              rowId={({ id }) => id?.name ?? ""}
            />
          )}
        </Card>
      )}
    </>
  );
}

type Due = DeletionJson & Partial<Pick<RefusalJson, "reason">>;

const COLUMNS = (scope: Scope) => [
  {
    title: "Execution",
    cell: ({ id }: Due) => (
      <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...scope, name: id?.name ?? "" }}>
        {id?.name}
      </Link>
    ),
  },
  { title: "Outcome", cell: ({ reason }: Due) => (reason === undefined ? "deleted" : `kept: ${reason}`) },
  { title: "With it", cell: ({ launched = [] }: Due) => (launched.length === 0 ? "–" : `${formatCount(launched.length)} launched`) },
];

function RetentionForm({ scope }: { readonly scope: Scope }) {
  const { api } = useApp();
  const { change } = useSettingActs();
  const refused = useRights(scope).refusal("admin");
  const [days, setDays] = useState("");
  const keep = daysToKeep(days);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (keep !== undefined && refused === undefined)
      change({ call: () => api.platform.setRetention(scope, keep), done: `Executions are kept ${days.trim()} days` });
  };
  return (
    <form className={styles.line} onSubmit={submit}>
      <label className={styles.days}>
        Keep executions of this domain for
        <input
          className={form.text}
          inputMode="decimal"
          size={6}
          value={days}
          aria-label="Days to keep executions"
          onChange={({ target }) => setDays(target.value)}
        />
        days
      </label>
      <Button type="submit" refused={refused ?? (keep === undefined ? "Enter a number of days" : undefined)}>
        Set
      </Button>
      <Button
        refused={refused}
        onClick={() => change({ call: () => api.platform.setRetention(scope, undefined), done: "Executions are kept forever" })}
      >
        Keep forever
      </Button>
      <Button
        refused={refused}
        onClick={() => change({ call: () => api.platform.deleteRetention(scope), done: "The policy of the enclosing place applies" })}
      >
        As the project
      </Button>
    </form>
  );
}
