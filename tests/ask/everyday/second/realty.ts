// Houses for sale, by short names: prices in dollars as REAL, what was sold and what is available, a view of the latter.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const realty: EverydaySchema = {
  name: "realty",
  tables: ["agt", "prop", "viewing", "v_avail_prop"],
  statements: statementsOf(`
CREATE TABLE agt (agt_id INTEGER PRIMARY KEY, nm TEXT NOT NULL, phone TEXT);
CREATE TABLE prop (prop_id INTEGER PRIMARY KEY, addr TEXT NOT NULL, city TEXT NOT NULL, typ TEXT NOT NULL, beds INTEGER NOT NULL, area_sqm REAL NOT NULL, ask_px REAL NOT NULL, yr_built INTEGER, has_garage INTEGER NOT NULL, listed_dt TEXT NOT NULL, sold_dt TEXT, sold_px REAL, agt_id INTEGER NOT NULL REFERENCES agt(agt_id));
CREATE TABLE viewing (viewing_id INTEGER PRIMARY KEY, prop_id INTEGER NOT NULL REFERENCES prop(prop_id), buyer_nm TEXT NOT NULL, viewed_dt TEXT NOT NULL, offer_px REAL);
CREATE VIEW v_avail_prop AS SELECT prop_id, addr, city, typ, beds, ask_px FROM prop WHERE sold_dt IS NULL;
INSERT INTO agt VALUES (1,'Dana Pike','555-0101'),(2,'Eli Marsh','555-0102'),(3,'Faye Rossi',NULL);
INSERT INTO prop VALUES (1,'12 Palm Ave','Tampa','house',4,182.5,459000,1974,1,'2025-11-02','2026-01-15',462500,1),(2,'3 Bay Ct','Tampa','flat',2,78.0,245000,2008,0,'2026-01-20',NULL,NULL,1),(3,'77 Mill Rd','Orlando','house',3,140.0,299000,1966,0,'2025-12-12','2026-02-20',290000,2),(4,'9 Pier St','Tampa','loft',1,95.5,310000,1931,0,'2026-02-25',NULL,NULL,2),(5,'41 Oak Ln','Miami','house',5,260.0,890000,1999,1,'2026-03-01',NULL,NULL,1),(6,'5 Sun Sq','Miami','flat',3,112.0,405000,2019,1,'2026-03-14',NULL,NULL,3),(7,'18 Gulf Way','Tampa','house',3,130.0,349000,2003,1,'2025-10-01',NULL,NULL,2),(8,'2 Canal St','Orlando','loft',2,120.0,275000,1948,0,'2025-09-09','2025-12-19',281000,1);
INSERT INTO viewing VALUES (1,1,'Ivy Cole','2025-12-20',455000),(2,1,'Jon Webb','2026-01-04',462500),(3,3,'Kara Finn','2026-02-02',290000),(4,2,'Ivy Cole','2026-02-11',NULL),(5,7,'Leo Park','2026-02-14',330000),(6,5,'Mona Diaz','2026-03-10',NULL),(7,4,'Leo Park','2026-03-17',NULL);
`),
  descriptions: [
    {
      table: "agt",
      description: "An agent, who sells properties",
      columns: [{ column: "nm", description: "Name" }],
    },
    {
      table: "prop",
      description: "A property: a house, flat or loft",
      columns: [
        { column: "addr", description: "Street address" },
        { column: "typ", description: "Type: house, flat or loft" },
        { column: "beds", description: "Number of bedrooms" },
        { column: "area_sqm", description: "Size in square metres" },
        { column: "ask_px", description: "Asking price, in US dollars" },
        { column: "yr_built", description: "Year in which it was built" },
        { column: "listed_dt", description: "Day on which it was listed" },
        { column: "sold_dt", description: "Day of the sale; empty while it is available" },
        { column: "sold_px", description: "Price it was sold for, in US dollars" },
      ],
    },
    {
      table: "viewing",
      columns: [
        { column: "buyer_nm", description: "Name of the buyer" },
        { column: "offer_px", description: "What the buyer offered, in US dollars; empty without an offer" },
      ],
    },
  ],
  questions: [
    { q: "flats with at least 2 bedrooms", sql: "SELECT addr FROM prop WHERE typ = 'flat' AND beds >= 2" },
    {
      q: "Houses in Tampa with a garage",
      sql: "SELECT addr FROM prop WHERE typ = 'house' AND city = 'Tampa' AND has_garage = 1",
    },
    {
      q: "What's the average asking price per city?",
      sql: "SELECT city, avg(ask_px) FROM prop GROUP BY city",
    },
    {
      q: "which properties sold for more than the asking price?",
      sql: "SELECT addr FROM prop WHERE sold_px > ask_px",
    },
    {
      q: "anything under $300k?",
      sql: [
        "SELECT addr FROM prop WHERE ask_px < 300000",
        "SELECT addr FROM prop WHERE ask_px < 300000 AND sold_dt IS NULL",
      ],
    },
    { q: "properties built before 1980", sql: "SELECT addr FROM prop WHERE yr_built < 1980" },
    {
      q: "Which agent has sold the most properties?",
      sql:
        "SELECT a.nm FROM agt a JOIN prop p ON p.agt_id = a.agt_id WHERE p.sold_dt IS NOT NULL GROUP BY a.agt_id ORDER BY count(*) DESC LIMIT 1",
    },
    {
      q: "How many properties are still available?",
      sql: "SELECT count(*) FROM prop WHERE sold_dt IS NULL",
    },
    {
      q: "properties listed in the last 30 days",
      sql: "SELECT addr FROM prop WHERE listed_dt >= '2026-02-16'",
    },
    { q: "who viewed 12 Palm Ave?", sql: "SELECT buyer_nm FROM viewing WHERE prop_id = 1" },
    { q: "biggest loft", sql: "SELECT addr FROM prop WHERE typ = 'loft' ORDER BY area_sqm DESC LIMIT 1" },
    {
      q: "properties that haven't been viewed yet",
      sql: "SELECT addr FROM prop WHERE prop_id NOT IN (SELECT prop_id FROM viewing)",
    },
    {
      q: "between 100 and 150 m2 in Orlando",
      sql: "SELECT addr FROM prop WHERE area_sqm BETWEEN 100 AND 150 AND city = 'Orlando'",
    },
    { q: "homes close to a good school", mustRefuse: true },
    { q: "Which houses have a pool?", mustRefuse: true },
  ],
};
