import { useQuery } from "@tanstack/react-query";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { CardPage, Note } from "../../control/card-page.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { accessQuery } from "../../frame/queries.js";
import { useEverywhereRole } from "../../frame/use-role.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { PERMISSIONS, ROLES, type RoleName } from "./rights.js";
import { RolesCard } from "./roles-card.js";

/** Roles of people and services: one's own, those of all, and what each permits. */
export function AccessPage() {
  const app = useApp();
  const scope = useScope();
  const { data: own } = useQuery(accessQuery(app, scope));
  const everywhere = useEverywhereRole();
  usePageTitle("Access");
  // Without sign-in, callers have no subject.
  const isOff = own?.subject === "";
  return (
    <CardPage title="Access">
      <Card title="You" note={`${scope.project} / ${scope.domain}`}>
        {isOff && (
          <Note>Admin requires no sign-in (auth.mode: open): every caller may do everything. npm start -- --auth requires it.</Note>
        )}
        {own !== undefined && !isOff && (
          <Note>
            You are <Code>{own.subject}</Code>, {own.role === "" ? "without a role here" : <Pill>{own.role}</Pill>}
            {everywhere !== undefined && everywhere !== "" && <> and {everywhere} in all projects</>}.
          </Note>
        )}
      </Card>
      {own !== undefined && !isOff && everywhere !== undefined && <RolesCard isAllowed={everywhere === "admin"} />}
      <Card title="What a role permits" note="each includes those above it, except engine">
        <PlainTable label="Roles and permissions" columns={COLUMNS} rows={ROLES} rowId={(role) => role} />
      </Card>
    </CardPage>
  );
}

const COLUMNS: readonly PlainColumn<RoleName>[] = [
  { title: "Role", cell: (role) => <Code>{role}</Code> },
  { title: "Permits", cell: (role) => PERMISSIONS[role] },
];
