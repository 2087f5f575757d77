import { type FormEvent, useState } from "react";
import type { RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { Dialog } from "../../control/dialog.js";
import form from "../../control/form.module.css";
import { FormButtons } from "../../control/form-buttons.js";
import { Segments } from "../../control/segments.js";
import { useScope } from "../../frame/use-scope.js";
import { PERMISSIONS, ROLES, type RoleName } from "./rights.js";

const HOLDERS = [
  { id: "subject", title: "Subject" },
  { id: "group", title: "Group" },
] as const;
const PLACES = [
  { id: "domain", title: "This domain" },
  { id: "project", title: "This project" },
  { id: "all", title: "All projects" },
] as const;

interface RoleDialogProps {
  onGive(binding: RoleBindingJson): void;
  onClose(): void;
}

/** Form of a role that is given. */
export function RoleDialog({ onGive, onClose }: RoleDialogProps) {
  const { project, domain } = useScope();
  const [kind, setKind] = useState<(typeof HOLDERS)[number]["id"]>("subject");
  const [name, setName] = useState("");
  const [role, setRole] = useState<RoleName>("viewer");
  const [place, setPlace] = useState<(typeof PLACES)[number]["id"]>("domain");
  const problem = name.trim() === "" ? `Name the ${kind}` : undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problem !== undefined) return;
    const where = { project: place === "all" ? "*" : project, domain: place === "domain" ? domain : "*" };
    onGive({ [kind]: name.trim(), role, ...where });
  };
  return (
    <Dialog title="Give a role" onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        <Segments label="Holder" choices={HOLDERS} current={kind} onChoose={(next) => setKind(next)} />
        <label className={form.field}>
          {kind === "subject" ? "Subject: claim sub of the token" : "Group that the token lists"}
          <input className={form.text} value={name} autoFocus onChange={({ target }) => setName(target.value)} />
        </label>
        <label className={form.field}>
          Role
          <select
            className={form.text}
            value={role}
            onChange={({ target }) => setRole(ROLES.find((each) => each === target.value) ?? "viewer")}
          >
            {ROLES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <p className={form.hint}>Permits: {PERMISSIONS[role]}.</p>
        <Segments label="Place" choices={PLACES} current={place} onChoose={(next) => setPlace(next)} />
        <FormButtons verb="Give" refused={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
