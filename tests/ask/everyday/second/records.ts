// A record shop in Pascal case: lengths in milliseconds, prices in dollars, playlists that share tracks.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const records: EverydaySchema = {
  name: "records",
  tables: ["Artist", "Album", "Track", "Playlist", "PlaylistTrack"],
  statements: statementsOf(`
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL, Country TEXT NOT NULL, FormedYear INTEGER);
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL, ArtistId INTEGER NOT NULL REFERENCES Artist(ArtistId), ReleaseYear INTEGER NOT NULL, Label TEXT, PriceUsd REAL NOT NULL, InStock INTEGER NOT NULL);
CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, AlbumId INTEGER NOT NULL REFERENCES Album(AlbumId), Title TEXT NOT NULL, LengthMs INTEGER NOT NULL, Explicit INTEGER NOT NULL DEFAULT 0, PlayCount INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name TEXT NOT NULL, Owner TEXT NOT NULL, IsPublic INTEGER NOT NULL);
CREATE TABLE PlaylistTrack (PlaylistId INTEGER NOT NULL REFERENCES Playlist(PlaylistId), TrackId INTEGER NOT NULL REFERENCES Track(TrackId), PRIMARY KEY (PlaylistId, TrackId));
INSERT INTO Artist VALUES (1,'The Lanterns','Sweden',1988),(2,'Amadou Diarra','Mali',NULL),(3,'Night Ferry','United Kingdom',2004),(4,'Mira Sol','Spain',2015);
INSERT INTO Album VALUES (1,'Blue Harbor',1,1991,'Northside',18.5,4),(2,'Second Light',1,1996,'Northside',12.0,0),(3,'Desert Letters',2,2003,'Sahel',22.0,2),(4,'Last Departure',3,2009,'Northside',9.99,11),(5,'Tidal',3,2014,NULL,14.0,0),(6,'Late Echo',1,2021,'Sahel',25.0,7);
INSERT INTO Track VALUES (1,1,'Harbor Song',312000,0,900),(2,1,'Grey Sail',188000,0,410),(3,2,'Candle',245000,0,1200),(4,3,'Niger River',402000,0,2200),(5,3,'Two Letters',275000,0,640),(6,4,'Platform Nine',199000,1,3100),(7,4,'Timetable',230000,0,150),(8,5,'Undertow',330000,1,780),(9,6,'Echo',260000,0,95);
INSERT INTO Playlist VALUES (1,'Road Trip','Ulla',1),(2,'Sleep','Ulla',0),(3,'Office','Victor',1);
INSERT INTO PlaylistTrack VALUES (1,1),(1,4),(1,6),(2,3),(2,2),(3,6),(3,3);
`),
  descriptions: [
    {
      table: "Track",
      description: "A track (song) of an album",
      columns: [{ column: "LengthMs", description: "Length in milliseconds" }],
    },
    { table: "Album", columns: [{ column: "InStock", description: "Copies that we have in stock" }] },
  ],
  questions: [
    { q: "tracks longer than 5 minutes", sql: "SELECT Title FROM Track WHERE LengthMs > 300000" },
    { q: "albums from the 90s", sql: "SELECT Title FROM Album WHERE ReleaseYear BETWEEN 1990 AND 1999" },
    {
      q: "Which artist has the most albums?",
      sql:
        "SELECT r.Name FROM Artist r JOIN Album a ON a.ArtistId = r.ArtistId GROUP BY r.ArtistId ORDER BY count(*) DESC LIMIT 1",
    },
    { q: "How many songs are explicit?", sql: "SELECT count(*) FROM Track WHERE Explicit = 1" },
    {
      q: "public playlists with more than 2 tracks",
      sql:
        "SELECT p.Name FROM Playlist p JOIN PlaylistTrack t ON t.PlaylistId = p.PlaylistId WHERE IsPublic = 1 GROUP BY p.PlaylistId HAVING count(*) > 2",
    },
    {
      q: "What's on the playlist Road Trip?",
      sql: "SELECT t.Title FROM Track t JOIN PlaylistTrack p ON p.TrackId = t.TrackId WHERE p.PlaylistId = 1",
    },
    {
      q: "albums that cost between $10 and $20",
      sql: "SELECT Title FROM Album WHERE PriceUsd BETWEEN 10 AND 20",
    },
    {
      q: "total length of Blue Harbor in minutes",
      sql: "SELECT sum(LengthMs) / 60000.0 FROM Track WHERE AlbumId = 1",
    },
    {
      q: "tracks that aren't on any playlist",
      sql: "SELECT Title FROM Track WHERE TrackId NOT IN (SELECT TrackId FROM PlaylistTrack)",
    },
    {
      q: "top 5 most played tracks pls",
      sql: "SELECT Title FROM Track ORDER BY PlayCount DESC LIMIT 5",
      inOrderOf: 0,
    },
    { q: "Artists from Sweden or Mali", sql: "SELECT Name FROM Artist WHERE Country IN ('Sweden','Mali')" },
    {
      q: "which albums are sold out?",
      sql: "SELECT Title FROM Album WHERE InStock = 0",
    },
    {
      q: "What was the first album by The Lanterns?",
      sql: "SELECT Title FROM Album WHERE ArtistId = 1 ORDER BY ReleaseYear LIMIT 1",
    },
    { q: "Which albums sold best last year?", mustRefuse: true },
    { q: "artists similar to Night Ferry", mustRefuse: true },
  ],
};
