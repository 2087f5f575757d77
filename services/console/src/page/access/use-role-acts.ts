import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { RoleBindingJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { useApp } from "../../app/app.js";
import { holderText, placeText } from "./rights.js";

/** Acts on roles; a failed one shows its reason. */
export interface RoleActs {
  give(binding: RoleBindingJson): void;
  take(binding: RoleBindingJson): void;
  /** Ends the tokens of the holder. */
  revoke(binding: RoleBindingJson): void;
}

interface Act {
  readonly call: () => Promise<void>;
  readonly done: string;
  readonly failed: string;
}

export function useRoleActs(): RoleActs {
  const { api, toasts } = useApp();
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: ({ call }: Act) => call(),
    onSuccess: async (_, { done }) => {
      toasts.show({ kind: "ok", text: done });
      await queries.invalidateQueries({ queryKey: ["roles"] });
    },
    onError: ({ message }, { failed }) => toasts.show({ kind: "bad", text: `${failed}: ${message}` }),
  });
  return {
    give: (binding) =>
      mutate({
        call: () => api.platform.giveRole(binding),
        done: `${holderText(binding)} is ${binding.role ?? ""} in ${placeText(binding)}`,
        failed: "The role cannot be given",
      }),
    take: (binding) =>
      mutate({
        call: () => api.platform.takeRole(binding),
        done: `${holderText(binding)} is no longer ${binding.role ?? ""}`,
        failed: "The role cannot be taken away",
      }),
    revoke: (binding) =>
      mutate({
        call: () => api.platform.revokeTokens(holderText(binding)),
        done: `The tokens of ${holderText(binding)} are called back`,
        failed: "The tokens cannot be called back",
      }),
  };
}
