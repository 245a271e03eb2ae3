// Action codes of SQLite's authorizer (sqlite.org/c3ref/c_alter_table.html); part of its stable interface.
export const actions = {
  CREATE_INDEX: 1,
  CREATE_TABLE: 2,
  CREATE_TRIGGER: 7,
  CREATE_VIEW: 8,
  DELETE: 9,
  DROP_INDEX: 10,
  DROP_TABLE: 11,
  DROP_TRIGGER: 16,
  DROP_VIEW: 17,
  INSERT: 18,
  PRAGMA: 19,
  READ: 20,
  SELECT: 21,
  UPDATE: 23,
  ALTER_TABLE: 26,
  REINDEX: 27,
  ANALYZE: 28,
  CREATE_VTABLE: 29,
  DROP_VTABLE: 30,
  FUNCTION: 31,
  RECURSIVE: 33,
} as const;

export const AUTHORIZE_OK = 0;
export const AUTHORIZE_DENY = 1;
