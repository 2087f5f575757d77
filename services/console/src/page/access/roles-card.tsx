import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ConfirmDialog } from "../../control/confirm-dialog.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import styles from "./access-page.module.css";
import { HolderRights } from "./holder-rights.js";
import { holderText, isGroup, placeText } from "./rights.js";
import { RoleDialog } from "./role-dialog.js";
import { useRoleActs } from "./use-role-acts.js";

/** Act that waits for a confirmation. */
interface Asked {
  readonly act: "take" | "revoke";
  readonly binding: RoleBindingJson;
}

/** Roles of all holders, to give and to take away; and the rights of one of them. */
export function RolesCard({ isAllowed }: { readonly isAllowed: boolean }) {
  const { api } = useApp();
  const acts = useRoleActs();
  const [isGiving, setGiving] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const { data, error, refetch } = useQuery({
    queryKey: ["roles"],
    queryFn: ({ signal }) => api.platform.listRoles(signal),
    enabled: isAllowed,
  });
  const bindings = data?.bindings ?? [];
  if (!isAllowed)
    return (
      <Card title="Roles">
        <Note>Reading and giving roles needs the role admin in all projects.</Note>
      </Card>
    );
  return (
    <>
      <Card
        title="Roles"
        note={
          <Button small icon="plus" onClick={() => setGiving(true)}>
            Give a role
          </Button>
        }
      >
        {error !== null && data === undefined && (
          <ErrorPanel title="The roles cannot be listed" error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && bindings.length === 0 && <Note>No role is given.</Note>}
        {bindings.length > 0 && (
          <PlainTable
            label="Roles"
            columns={[...COLUMNS, actColumn(setAsked)]}
            rows={bindings}
            rowId={(binding) => JSON.stringify(binding)}
          />
        )}
      </Card>
      {data !== undefined && <HolderRights bindings={bindings} />}
      {isGiving && (
        <RoleDialog
          onClose={() => setGiving(false)}
          onGive={(binding) => {
            setGiving(false);
            acts.give(binding);
          }}
        />
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked.act === "take" ? "Take the role away" : "Call tokens back"}
          verb={asked.act === "take" ? "Take away" : "Call back"}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            setAsked(undefined);
            acts[asked.act](asked.binding);
          }}
        >
          {asked.act === "take"
            ? `${holderText(asked.binding)} is no longer ${asked.binding.role ?? ""} in ${placeText(asked.binding)}.`
            : `All tokens and sessions of ${holderText(asked.binding)} end. The subject can sign in again.`}
        </ConfirmDialog>
      )}
    </>
  );
}

const COLUMNS: readonly PlainColumn<RoleBindingJson>[] = [
  { title: "Holder", cell: (binding) => <Code>{holderText(binding)}</Code> },
  { title: "Kind", cell: (binding) => (isGroup(binding) ? "group" : "subject") },
  { title: "Role", cell: ({ role }) => <Pill>{role}</Pill> },
  { title: "Place", cell: placeText },
  { title: "Given by", cell: ({ configured }) => (configured === true ? "the configuration" : "an administrator") },
];

function actColumn(ask: (asked: Asked) => void): PlainColumn<RoleBindingJson> {
  return {
    title: "Acts",
    end: true,
    cell: (binding) => (
      <span className={styles.acts}>
        {!isGroup(binding) && (
          <Button
            small
            kind="quiet"
            aria-label={`Call back tokens of ${holderText(binding)}`}
            onClick={() => ask({ act: "revoke", binding })}
          >
            Call back tokens
          </Button>
        )}
        <Button
          small
          kind="quiet"
          aria-label={`Take away ${binding.role ?? ""} from ${holderText(binding)}`}
          refused={binding.configured === true ? "The configuration gives this role (auth.roles)" : undefined}
          onClick={() => ask({ act: "take", binding })}
        >
          Take away
        </Button>
      </span>
    ),
  };
}
