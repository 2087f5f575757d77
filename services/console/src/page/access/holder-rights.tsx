import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import form from "../../control/form.module.css";
import { accessSearch } from "../../route/platform-search.js";
import styles from "./access-page.module.css";
import { PERMISSIONS, placeText, type Right, rightsOf } from "./rights.js";

const route = getRouteApi("/projects/$project/domains/$domain/access");

/** Rights of one subject, with the bindings that give them. */
export function HolderRights({ bindings }: { readonly bindings: readonly RoleBindingJson[] }) {
  const navigate = useNavigate();
  const search = accessSearch.read(route.useSearch());
  const groups = search.groups
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");
  const rights = rightsOf(bindings, { subject: search.subject, groups });
  const change = (next: Partial<typeof search>): void =>
    void navigate({ to: ".", search: accessSearch.write({ ...search, ...next }), replace: true });
  return (
    <Card title="What someone may do, and why">
      <div className={styles.fields}>
        <label className={form.field}>
          Subject
          <input className={form.text} value={search.subject} onChange={({ target }) => change({ subject: target.value })} />
        </label>
        <label className={form.field}>
          Groups of the token, separated by commas
          <input className={form.text} value={search.groups} onChange={({ target }) => change({ groups: target.value })} />
        </label>
      </div>
      {search.subject === "" && groups.length === 0 ? (
        <Note>Enter a subject or a group.</Note>
      ) : rights.length === 0 ? (
        <Note>No role applies: every call is refused.</Note>
      ) : (
        <PlainTable label="Rights" columns={COLUMNS} rows={rights} rowId={(right) => JSON.stringify(right)} />
      )}
    </Card>
  );
}

const COLUMNS: readonly PlainColumn<Right>[] = [
  { title: "Role", cell: ({ role }) => <Pill>{role}</Pill> },
  { title: "Place", cell: placeText },
  { title: "Because", cell: ({ reasons }) => reasons.join(", ") },
  { title: "Permits", cell: ({ role }) => PERMISSIONS[role] },
];
