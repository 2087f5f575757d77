/** Appends a name to an address, with one slash between them. */
export const joinUri = (uri: string, name: string): string => (uri.endsWith("/") ? `${uri}${name}` : `${uri}/${name}`);
