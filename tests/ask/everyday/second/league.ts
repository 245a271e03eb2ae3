// A football league: home and away teams of a match, goals by players, matches that are still to come.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const league: EverydaySchema = {
  name: "league",
  tables: ["stadiums", "teams", "players", "matches", "goals"],
  statements: statementsOf(`
CREATE TABLE stadiums (id INTEGER PRIMARY KEY, name TEXT NOT NULL, capacity INTEGER NOT NULL);
CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, founded INTEGER NOT NULL, stadium_id INTEGER NOT NULL REFERENCES stadiums(id));
CREATE TABLE players (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team_id INTEGER REFERENCES teams(id), position TEXT NOT NULL, birth_date TEXT NOT NULL, shirt_number INTEGER, on_loan INTEGER NOT NULL DEFAULT 0, contract_until TEXT);
CREATE TABLE matches (id INTEGER PRIMARY KEY, home_team_id INTEGER NOT NULL REFERENCES teams(id), away_team_id INTEGER NOT NULL REFERENCES teams(id), match_date TEXT NOT NULL, home_goals INTEGER, away_goals INTEGER, attendance INTEGER, status TEXT NOT NULL);
CREATE TABLE goals (id INTEGER PRIMARY KEY, match_id INTEGER NOT NULL REFERENCES matches(id), player_id INTEGER NOT NULL REFERENCES players(id), minute INTEGER NOT NULL, own_goal INTEGER NOT NULL DEFAULT 0);
INSERT INTO stadiums VALUES (1,'Harbour Park',31000),(2,'The Mill',18500),(3,'Kingsway',24000);
INSERT INTO teams VALUES (1,'Rovers','Port Ash',1898,1),(2,'United','Milltown',1911,2),(3,'Athletic','Kingsford',1925,3);
INSERT INTO players VALUES (1,'Luis Mora',1,'forward','1998-03-04',9,0,'2027-06-30'),(2,'Tom Hale',1,'goalkeeper','1992-10-11',1,0,'2026-06-30'),(3,'Ken Adu',2,'midfielder','2004-05-21',8,1,'2026-06-30'),(4,'Ray Bell',2,'defender','1995-12-01',4,0,'2028-06-30'),(5,'Ivo Petr',3,'forward','2001-07-07',11,0,'2026-12-31'),(6,'Sam Ode',3,'goalkeeper','1999-02-02',13,1,'2027-06-30'),(7,'Max Orr',NULL,'defender','1989-08-08',NULL,0,NULL);
INSERT INTO matches VALUES (1,1,2,'2026-02-07',2,1,27500,'played'),(2,2,3,'2026-02-14',1,1,15200,'played'),(3,3,1,'2026-02-28',0,2,21900,'played'),(4,1,3,'2026-03-07',NULL,NULL,NULL,'postponed'),(5,2,1,'2026-03-14',0,0,18400,'played'),(6,3,2,'2026-03-21',NULL,NULL,NULL,'scheduled'),(7,1,2,'2026-04-04',NULL,NULL,NULL,'scheduled');
INSERT INTO goals VALUES (1,1,1,12,0),(2,1,1,67,0),(3,1,3,85,0),(4,2,5,30,0),(5,2,3,90,0),(6,3,1,44,0),(7,3,5,81,1);
`),
  descriptions: [
    {
      table: "matches",
      columns: [
        { column: "attendance", description: "Number of spectators" },
        { column: "status", description: "played, scheduled or postponed" },
      ],
    },
    { table: "goals", columns: [{ column: "player_id", description: "Who scored the goal" }] },
    {
      table: "players",
      columns: [{ column: "team_id", description: "Team the player plays for; empty for free agents" }],
    },
  ],
  questions: [
    { q: "Which matches were postponed?", sql: "SELECT id FROM matches WHERE status = 'postponed'" },
    { q: "How many goals did Luis Mora score?", sql: "SELECT count(*) FROM goals WHERE player_id = 1" },
    {
      q: "who scored the most goals?",
      sql:
        "SELECT p.name FROM goals g JOIN players p ON p.id = g.player_id GROUP BY p.id ORDER BY count(*) DESC LIMIT 1",
    },
    { q: "matches that ended in a draw", sql: "SELECT id FROM matches WHERE home_goals = away_goals" },
    { q: "home matches of Rovers", sql: "SELECT id FROM matches WHERE home_team_id = 1" },
    {
      q: "players whose contract runs out this year",
      sql: "SELECT name FROM players WHERE contract_until LIKE '2026-%'",
    },
    { q: "matches with more than 20,000 spectators", sql: "SELECT id FROM matches WHERE attendance > 20000" },
    { q: "goals after the 80th minute", sql: "SELECT id FROM goals WHERE minute > 80" },
    { q: "Who is on loan?", sql: "SELECT name FROM players WHERE on_loan = 1" },
    {
      q: "players who have never scored",
      sql: "SELECT name FROM players WHERE id NOT IN (SELECT player_id FROM goals)",
    },
    {
      q: "which stadium holds the most people?",
      sql: "SELECT name FROM stadiums ORDER BY capacity DESC LIMIT 1",
    },
    {
      q: "goalkeepers born before 1995",
      sql: "SELECT name FROM players WHERE position = 'goalkeeper' AND birth_date < '1995-01-01'",
    },
    {
      q: "number of players per team",
      sql: [
        "SELECT t.name, count(*) FROM players p JOIN teams t ON t.id = p.team_id GROUP BY t.id",
        "SELECT t.name, count(*) FROM players p LEFT JOIN teams t ON t.id = p.team_id GROUP BY t.id",
      ],
    },
    { q: "Which defender is taller than 1.90 m?", mustRefuse: true },
    { q: "who got a red card in February?", mustRefuse: true },
  ],
};
