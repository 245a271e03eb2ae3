// A farm without a word of description: animals that are each other's mothers, milk in litres, treatments in cents.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const farm: EverydaySchema = {
  name: "farm",
  tables: ["animals", "milkings", "vets", "treatments", "fields"],
  statements: statementsOf(`
CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT NOT NULL, species TEXT NOT NULL, sex TEXT NOT NULL CHECK (sex IN ('F','M')), born_on TEXT NOT NULL, mother_id INTEGER REFERENCES animals(id), weight_kg REAL, sold_on TEXT, died_on TEXT);
CREATE TABLE milkings (id INTEGER PRIMARY KEY, animal_id INTEGER NOT NULL REFERENCES animals(id), milked_at TEXT NOT NULL, liters REAL NOT NULL);
CREATE TABLE vets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, phone TEXT);
CREATE TABLE treatments (id INTEGER PRIMARY KEY, animal_id INTEGER NOT NULL REFERENCES animals(id), vet_id INTEGER REFERENCES vets(id), drug TEXT NOT NULL, given_on TEXT NOT NULL, cost_cents INTEGER NOT NULL);
CREATE TABLE fields (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hectares REAL NOT NULL, crop TEXT, ploughed_on TEXT);
INSERT INTO animals VALUES (1,'Bella','cow','F','2018-04-02',NULL,640,NULL,NULL),(2,'Clover','cow','F','2020-05-11',1,590.5,NULL,NULL),(3,'Daisy','cow','F','2024-03-30',2,410,NULL,NULL),(4,'Ferdinand','cow','M','2019-01-09',NULL,910,'2026-02-02',NULL),(5,'Gwen','goat','F','2021-06-01',NULL,58,NULL,NULL),(6,'Hector','goat','M','2024-08-17',5,71,NULL,'2026-01-25'),(7,'Ina','sheep','F','2022-02-22',NULL,66.5,NULL,NULL),(8,'Jolly','cow','M','2025-12-24',2,95,NULL,NULL);
INSERT INTO milkings VALUES (1,1,'2026-03-09 06:00:00',14.5),(2,1,'2026-03-12 06:00:00',13.0),(3,1,'2026-03-16 06:00:00',15.0),(4,2,'2026-03-10 06:10:00',12.0),(5,2,'2026-03-18 06:10:00',11.5),(6,5,'2026-03-11 06:20:00',2.5),(7,5,'2026-03-17 06:20:00',2.8);
INSERT INTO vets VALUES (1,'Dr. Anselm','555-2001'),(2,'Dr. Birk',NULL);
INSERT INTO treatments VALUES (1,3,1,'Vaccine A','2026-03-02',3500),(2,1,2,'Antibiotic','2025-11-14',8200),(3,7,1,'Dewormer','2026-01-19',1900),(4,3,2,'Antibiotic','2026-03-05',7900),(5,6,1,'Painkiller','2026-01-22',4400),(6,5,NULL,'Dewormer','2025-10-10',1500);
INSERT INTO fields VALUES (1,'Long Acre',12.5,'wheat','2025-10-02'),(2,'River Meadow',8.0,NULL,NULL),(3,'Hill Top',4.2,'barley','2025-09-20'),(4,'Mill Field',15.0,'wheat','2025-10-11'),(5,'Church End',3.1,NULL,'2026-03-10');
`),
  descriptions: [],
  questions: [
    {
      q: "How many goats do we have?",
      sql: [
        "SELECT count(*) FROM animals WHERE species = 'goat'",
        "SELECT count(*) FROM animals WHERE species = 'goat' AND sold_on IS NULL AND died_on IS NULL",
      ],
    },
    { q: "animals heavier than 500 kg", sql: "SELECT name FROM animals WHERE weight_kg > 500" },
    {
      q: "How much milk did Bella give last week?",
      sql:
        "SELECT sum(liters) FROM milkings WHERE animal_id = 1 AND milked_at >= '2026-03-09' AND milked_at < '2026-03-16'",
    },
    {
      q: "Who is Clover's mother?",
      sql: "SELECT m.name FROM animals a JOIN animals m ON m.id = a.mother_id WHERE a.name = 'Clover'",
    },
    {
      q: "animals that got no treatment",
      sql: "SELECT name FROM animals WHERE id NOT IN (SELECT animal_id FROM treatments)",
    },
    {
      q: "total treatment cost per animal",
      sql: [
        "SELECT a.name, sum(t.cost_cents) FROM treatments t JOIN animals a ON a.id = t.animal_id GROUP BY a.id",
        "SELECT a.name, sum(t.cost_cents) / 100.0 FROM treatments t JOIN animals a ON a.id = t.animal_id GROUP BY a.id",
        "SELECT a.name, coalesce(sum(t.cost_cents), 0) FROM animals a LEFT JOIN treatments t ON a.id = t.animal_id GROUP BY a.id",
        "SELECT a.name, sum(t.cost_cents) FROM animals a LEFT JOIN treatments t ON a.id = t.animal_id GROUP BY a.id",
      ],
    },
    { q: "fields without a crop", sql: "SELECT name FROM fields WHERE crop IS NULL" },
    { q: "biggest field", sql: "SELECT name FROM fields ORDER BY hectares DESC LIMIT 1" },
    {
      q: "cows born in 2024 or later",
      sql: "SELECT name FROM animals WHERE species = 'cow' AND born_on >= '2024-01-01'",
    },
    { q: "which animals died?", sql: "SELECT name FROM animals WHERE died_on IS NOT NULL" },
    {
      q: "how many hectares of wheat do we have",
      sql: "SELECT sum(hectares) FROM fields WHERE crop = 'wheat'",
    },
    {
      q: "Which vet treated Daisy on 2 March 2026?",
      sql:
        "SELECT v.name FROM treatments t JOIN vets v ON v.id = t.vet_id WHERE t.animal_id = 3 AND t.given_on = '2026-03-02'",
    },
    {
      q: "male animals still on the farm, i.e. not sold and not dead",
      sql: "SELECT name FROM animals WHERE sex = 'M' AND sold_on IS NULL AND died_on IS NULL",
    },
    { q: "Which cows are pregnant?", mustRefuse: true },
    { q: "when is the next treatment due for Ina?", mustRefuse: true },
  ],
};
