package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	_ "github.com/glebarez/go-sqlite"
	"github.com/zeromicro/go-zero/core/stores/sqlx"
)

type funderRow struct {
	ID      string `db:"id"`
	Name    string `db:"name"`
	City    string `db:"city"`
	Website string `db:"website"`
	Calls   int64  `db:"calls"`
}

type callRow struct {
	ID         string         `db:"id"`
	Title      string         `db:"title"`
	Summary    string         `db:"summary"`
	Status     string         `db:"status"`
	FunderID   string         `db:"funder_id"`
	FunderName string         `db:"funder_name"`
	Opens      string         `db:"opens"`
	Deadline   sql.NullString `db:"deadline"`
	Cents      sql.NullInt64  `db:"cents"`
	Topics     string         `db:"topics"`
	Updated    string         `db:"updated"`
}

const callColumns = `c.id, c.title, c.summary, c.status, c.funder_id, f.name AS funder_name, c.opens, c.deadline, c.cents, c.topics, c.updated`
const callTables = ` FROM calls c JOIN funders f ON f.id = c.funder_id`

var funderSeed = [][4]string{
	{"FG-01", "Österreichischer Wissenschaftsfonds Süd", "Graz", "https://fonds-sued.example/"},
	{"FG-02", "Förderagentur Alpenraum", "Innsbruck", "https://alpenraum.example/"},
	{"FG-03", "Land Vorarlberg – Abteilung Wissenschaft", "Bregenz", "https://wissen-v.example/"},
	{"FG-04", "Stiftung für Öffentliche Gesundheit", "Wien", "https://gesundheit.example/"},
	{"FG-05", "Bodensee-Hochschulrat", "Konstanz", "https://bodensee-rat.example/"},
	{"FG-06", "Zukunftsfonds Kärnten", "Klagenfurt", "https://zukunft-k.example/"},
	{"FG-07", "Ludwig-Größing-Gesellschaft", "Linz", "https://groessing.example/"},
	{"FG-08", "Klima- und Energiebüro", "Sankt Pölten", "https://klimabuero.example/"},
	{"FG-09", "Übersee-Austauschdienst", "Salzburg", "https://uebersee.example/"},
}

var titleHeads = []string{"Förderung für", "Ausschreibung:", "Impulsprogramm", "Überregionale Ausschreibung:", "Stipendien:", "Ärztliche Forschung:", "Start-up-Hilfe", "Ökologie-Schwerpunkt"}
var titleTails = []string{"nachhaltige Gebäude", "junge Forschende", "Künstliche Intelligenz in der Pflege", "grüner Wasserstoff", "Mobilität im ländlichen Raum", "Bildung & Öffentlichkeit", "Straßenbau 100 % klimaneutral", "Quantensensorik", "Hochgebirgsböden", "digitale Märkte", "Übergangsfinanzierung KMU"}
var topicPool = []string{"GESUNDHEIT", "KLIMA", "ENERGIE", "MOBILITÄT", "BILDUNG", "DIGITALES", "BAUEN"}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// openDatabase creates the tables and fills them with 132 generated calls.
func openDatabase() sqlx.SqlConn {
	raw, err := sql.Open("sqlite", ":memory:")
	must(err)
	raw.SetMaxOpenConns(1)
	raw.SetMaxIdleConns(1)
	raw.SetConnMaxLifetime(0)
	db := sqlx.NewSqlConnFromDB(raw)
	for _, q := range []string{
		`CREATE TABLE funders (id TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, website TEXT NOT NULL)`,
		`CREATE TABLE calls (id TEXT PRIMARY KEY, title TEXT NOT NULL, title_fold TEXT NOT NULL, summary TEXT NOT NULL, status TEXT NOT NULL,
			funder_id TEXT NOT NULL REFERENCES funders(id), opens TEXT NOT NULL, deadline TEXT, cents INTEGER, topics TEXT NOT NULL, updated TEXT NOT NULL)`,
		`CREATE INDEX calls_funder ON calls(funder_id)`,
	} {
		_, err := db.Exec(q)
		must(err)
	}
	for _, f := range funderSeed {
		_, err := db.Exec(`INSERT INTO funders VALUES (?,?,?,?)`, f[0], f[1], f[2], f[3])
		must(err)
	}
	for i := 1; i <= 132; i++ {
		title := titleHeads[(i*5)%len(titleHeads)] + " " + titleTails[(i*7)%len(titleTails)]
		if i%10 == 3 {
			title += fmt.Sprintf(" (%d. Runde)", i/10+1)
		}
		funder := funderSeed[(i*i+i/3)%8] // FG-09 has no call
		opens := fmt.Sprintf("20%02d-%02d-%02d", 24+i%2, 1+(i*5)%12, 1+(i*11)%28)
		status, deadline := "CLOSED", sql.NullString{String: fmt.Sprintf("202%d-%02d-%02d", 5+i%2, 1+(i*7)%9, 1+(i*13)%28), Valid: true}
		switch {
		case i%3 == 1:
			status = "OPEN"
			deadline.String = fmt.Sprintf("2027-%02d-%02d", 3+(i*5)%10, 1+(i*3)%28)
			if i%21 == 1 {
				deadline = sql.NullString{}
			}
			if i == 34 || i == 70 {
				deadline.String = "9999-12-31"
			}
		case i%7 == 2:
			status = "PLANNED"
			opens = fmt.Sprintf("2027-%02d-%02d", 3+i%6, 1+(i*9)%28)
			deadline.String = fmt.Sprintf("2028-%02d-%02d", 1+(i*5)%12, 1+(i*3)%28)
		}
		if i%30 == 0 && status == "CLOSED" {
			deadline.String = "2026-06-30"
		}
		cents := sql.NullInt64{Int64: int64((i*37)%90+1)*1250000 + int64(i%4)*25, Valid: i%11 != 5}
		topics := []string{topicPool[i%7]}
		if i%2 == 0 {
			topics = append(topics, topicPool[(i+3)%7])
		}
		summary := fmt.Sprintf("Gefördert werden Vorhaben zum Thema „%s“. Anträge können über das Portal der Förderstelle %s gestellt werden; die Begutachtung erfolgt durch unabhängige Fachleute.", title, funder[1])
		updated := fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+(i*5)%10, 1+(i*17)%28, i%24, (i*7)%60)
		_, err := db.Exec(`INSERT INTO calls VALUES (?,?,?,?,?,?,?,?,?,?,?)`, fmt.Sprintf("AUS-%04d", 1000+i*3), title, strings.ToLower(title), summary, status,
			funder[0], opens, deadline, cents, strings.Join(topics, ","), updated)
		must(err)
	}
	return db
}

type filter struct {
	where []string
	args  []any
}

func (f *filter) and(cond string, args ...any) {
	f.where = append(f.where, cond)
	f.args = append(f.args, args...)
}

func (f *filter) sql() string {
	if len(f.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(f.where, " AND ")
}

func countCalls(ctx context.Context, db sqlx.SqlConn, f *filter) (int, error) {
	var n int
	err := db.QueryRowCtx(ctx, &n, `SELECT count(*)`+callTables+f.sql(), f.args...)
	return n, err
}

func selectCalls(ctx context.Context, db sqlx.SqlConn, f *filter, order string, offset, limit int) ([]callRow, error) {
	rows := []callRow{}
	args := append(append([]any{}, f.args...), limit, offset)
	err := db.QueryRowsCtx(ctx, &rows, `SELECT `+callColumns+callTables+f.sql()+` ORDER BY `+order+` LIMIT ? OFFSET ?`, args...)
	return rows, err
}

const funderSelect = `SELECT f.id, f.name, f.city, f.website, (SELECT count(*) FROM calls c WHERE c.funder_id = f.id) AS calls FROM funders f`
