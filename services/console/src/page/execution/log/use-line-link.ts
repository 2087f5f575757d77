import { useLocation, useNavigate } from "@tanstack/react-router";

/** Line of a log in the address (`#L123`), from 1, and the act that sets it. */
export function useLineLink(): readonly [line: number | undefined, link: (line: number) => void] {
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate();
  const line = /^L([1-9]\d{0,9})$/.exec(hash)?.[1];
  const link = (next: number): void => void navigate({ to: ".", search: (before) => before, hash: `L${next}`, replace: true });
  return [line === undefined ? undefined : Number(line), link];
}
