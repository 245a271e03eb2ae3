// Recipes and what goes into them: minutes, grams, stars of reviews, cooks who save what they like.
import { type EverydaySchema, statementsOf } from "../everyday_schema.ts";

export const recipes: EverydaySchema = {
  name: "recipes",
  tables: ["Cooks", "Recipes", "Ingredients", "RecipeIngredients", "Reviews"],
  statements: statementsOf(`
CREATE TABLE Cooks (id INTEGER PRIMARY KEY, nickname TEXT NOT NULL, country TEXT, premium INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Recipes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, cookId INTEGER NOT NULL REFERENCES Cooks(id), course TEXT NOT NULL, prepMinutes INTEGER NOT NULL, servings INTEGER NOT NULL, isVegetarian INTEGER NOT NULL, publishedAt TEXT, calories INTEGER);
CREATE TABLE Ingredients (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, allergen TEXT);
CREATE TABLE RecipeIngredients (recipeId INTEGER NOT NULL REFERENCES Recipes(id), ingredientId INTEGER NOT NULL REFERENCES Ingredients(id), grams REAL, PRIMARY KEY (recipeId, ingredientId));
CREATE TABLE Reviews (id INTEGER PRIMARY KEY, recipeId INTEGER NOT NULL REFERENCES Recipes(id), cookId INTEGER NOT NULL REFERENCES Cooks(id), stars INTEGER NOT NULL, body TEXT, writtenAt TEXT NOT NULL);
INSERT INTO Cooks VALUES (1,'olive','Greece',1),(2,'pepper','India',0),(3,'quince',NULL,0),(4,'rye','Denmark',1);
INSERT INTO Recipes VALUES (1,'Lentil Soup',1,'main',45,4,1,'2025-11-02 10:00:00',380),(2,'Chicken Curry',2,'main',60,4,0,'2026-01-12 18:00:00',620),(3,'Apple Pie',1,'dessert',90,8,1,'2026-02-25 09:00:00',410),(4,'Tomato Salad',4,'starter',10,2,1,'2026-03-11 12:00:00',150),(5,'Beef Stew',2,'main',150,6,0,NULL,700),(6,'Walnut Bread',4,'side',120,10,1,'2026-03-01 07:00:00',NULL);
INSERT INTO Ingredients VALUES (1,'lentils',NULL),(2,'onion',NULL),(3,'chicken',NULL),(4,'apple',NULL),(5,'flour','gluten'),(6,'tomato',NULL),(7,'walnut','nuts'),(8,'saffron',NULL),(9,'butter','milk');
INSERT INTO RecipeIngredients VALUES (1,1,250),(1,2,80),(2,3,500),(2,2,120),(3,4,600),(3,5,300),(3,9,150),(4,6,400),(4,2,30),(5,2,150),(6,5,500),(6,7,120);
INSERT INTO Reviews VALUES (1,1,2,5,'Lovely','2025-12-01 10:00:00'),(2,1,4,4,NULL,'2026-01-03 10:00:00'),(3,2,1,3,'Too mild','2026-02-01 10:00:00'),(4,3,2,5,'Wow','2026-03-02 10:00:00'),(5,3,4,2,'Soggy','2026-03-09 10:00:00'),(6,4,1,4,NULL,'2026-03-16 10:00:00');
`),
  descriptions: [
    {
      table: "Recipes",
      columns: [
        { column: "prepMinutes", description: "How long it takes, in minutes" },
        { column: "course", description: "starter, main, side or dessert" },
        { column: "publishedAt", description: "When it was published; empty while it is a draft" },
      ],
    },
    { table: "Reviews", columns: [{ column: "stars", description: "Rating from 1 to 5" }] },
  ],
  questions: [
    { q: "vegetarian recipes", sql: "SELECT title FROM Recipes WHERE isVegetarian = 1" },
    {
      q: "what can I cook in under an hour? show recipes that take less than 60 minutes",
      sql: "SELECT title FROM Recipes WHERE prepMinutes < 60",
    },
    {
      q: "recipes with onion but without chicken",
      sql:
        "SELECT title FROM Recipes WHERE id IN (SELECT recipeId FROM RecipeIngredients WHERE ingredientId = 2) AND id NOT IN (SELECT recipeId FROM RecipeIngredients WHERE ingredientId = 3)",
    },
    {
      q: "Which recipe has the most calories?",
      sql: "SELECT title FROM Recipes ORDER BY calories DESC LIMIT 1",
    },
    {
      q: "average stars per recipe",
      sql: "SELECT p.title, avg(r.stars) FROM Reviews r JOIN Recipes p ON p.id = r.recipeId GROUP BY p.id",
    },
    { q: "drafts", sql: "SELECT title FROM Recipes WHERE publishedAt IS NULL" },
    {
      q: "ingredients that are not used in any recipe",
      sql: "SELECT name FROM Ingredients WHERE id NOT IN (SELECT ingredientId FROM RecipeIngredients)",
    },
    { q: "desserts by olive", sql: "SELECT title FROM Recipes WHERE course = 'dessert' AND cookId = 1" },
    {
      q: "How many grams of flour are in Apple Pie?",
      sql: "SELECT grams FROM RecipeIngredients WHERE recipeId = 3 AND ingredientId = 5",
    },
    { q: "reviews with fewer than 3 stars", sql: "SELECT id FROM Reviews WHERE stars < 3" },
    {
      q: "Who reviewed Lentil Soup?",
      sql: "SELECT c.nickname FROM Reviews r JOIN Cooks c ON c.id = r.cookId WHERE r.recipeId = 1",
    },
    {
      q: "how many recipes were published this year",
      sql: "SELECT count(*) FROM Recipes WHERE publishedAt >= '2026-01-01'",
    },
    { q: "recipes for at least 6 people", sql: "SELECT title FROM Recipes WHERE servings >= 6" },
    { q: "which recipe is the healthiest?", mustRefuse: true },
    { q: "wine that goes with Beef Stew", mustRefuse: true },
  ],
};
