/** Something that happened to a contact: tracked by a caller or emitted by Everpost. */
export interface Event {
  id: string;
  projectId: string;
  contactId: string | null;
  emailId: string | null;
  name: string;
  data: Record<string, unknown>;
  createdAt: Date;
}
