// A research-information node with the funding API, on go-zero.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/zeromicro/go-zero/core/conf"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/proc"
	"github.com/zeromicro/go-zero/core/stores/sqlx"
	"github.com/zeromicro/go-zero/rest"
	"github.com/zeromicro/go-zero/rest/httpx"
	"github.com/zeromicro/go-zero/rest/pathvar"
	"github.com/zeromicro/go-zero/rest/router"
)

var node = os.Getenv("NODE")

const (
	apiCache = "private, no-cache"
	docCache = "no-cache"
	apiRoot  = "/alp/funding"
)

type app struct {
	origin              string
	db                  sqlx.SqlConn
	production, staging *realm
}

type money struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type reference struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type call struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Summary   string    `json:"summary"`
	Status    string    `json:"status"`
	Funder    reference `json:"funder"`
	Opens     string    `json:"opens"`
	Deadline  *string   `json:"deadline"`
	Budget    *money    `json:"budget"`
	Topics    []string  `json:"topics"`
	UpdatedAt string    `json:"updatedAt"`
}

func (r callRow) view() call {
	c := call{ID: r.ID, Title: r.Title, Summary: r.Summary, Status: r.Status, Funder: reference{r.FunderID, r.FunderName},
		Opens: r.Opens, Topics: strings.Split(r.Topics, ","), UpdatedAt: r.Updated}
	if r.Deadline.Valid {
		c.Deadline = &r.Deadline.String
	}
	if r.Cents.Valid {
		c.Budget = &money{float64(r.Cents.Int64) / 100, "EUR"}
	}
	return c
}

type funder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	City    string `json:"city"`
	Website string `json:"website"`
	Calls   int64  `json:"calls"`
}

type page struct {
	Total  int     `json:"total"`
	Offset int     `json:"offset"`
	Limit  int     `json:"limit"`
	Next   *string `json:"next"`
	Items  any     `json:"items"`
}

var orders = map[string]string{
	"id":        "c.id",
	"deadline":  "c.deadline IS NULL, c.deadline, c.id",
	"-deadline": "c.deadline IS NULL, c.deadline DESC, c.id",
	"title":     "c.title, c.id",
	"-title":    "c.title DESC, c.id",
	"budget":    "c.cents IS NULL, c.cents, c.id",
	"-budget":   "c.cents IS NULL, c.cents DESC, c.id",
}

var (
	statuses   = []string{"OPEN", "PLANNED", "CLOSED"}
	pageParams = []param{
		{name: "offset", kind: "int", min: 0, max: 100000, def: 0, descr: "How many results to skip. Beyond the last result the page is empty."},
		{name: "limit", kind: "int", min: 1, max: 100, def: 25, descr: "How many results a page has at most."},
	}
	callFilters = []param{
		{name: "status", kind: "list", enum: statuses, descr: "Only calls with one of these states, separated by commas."},
		{name: "funder", kind: "id", pattern: "^FG-[0-9]{2}$", descr: "Only calls of the funder with this id. A funder that does not exist has no calls: the list is empty."},
		{name: "topic", kind: "enum", enum: topicPool, descr: "Only calls that have this topic among their topics."},
		{name: "deadlineFrom", kind: "date", descr: "Only calls with a deadline on this day or later. Calls without a deadline are left out."},
		{name: "deadlineTo", kind: "date", descr: "Only calls with a deadline on this day or earlier. Calls without a deadline are left out."},
		{name: "minBudget", kind: "number", min: 0, max: 1000000000, descr: "Only calls with a budget of at least this amount (inclusive). Calls without a budget are left out."},
		{name: "maxBudget", kind: "number", min: 0, max: 1000000000, descr: "Only calls with a budget of at most this amount (inclusive). Calls without a budget are left out."},
		{name: "q", kind: "text", min: 1, max: 80, descr: "Only calls whose title contains this text. Upper and lower case are the same, in umlauts, too; every character stands for itself."},
	}
	callParams = append(append(append([]param{}, callFilters...), param{name: "sort", kind: "enum",
		enum: []string{"id", "deadline", "-deadline", "title", "-title", "budget", "-budget"}, def: "deadline",
		descr: "The order: ascending, or descending with a minus. Texts are ordered by their Unicode code points. Calls that have no value come last in either direction; calls with equal values are ordered by ascending id."}), pageParams...)
	dateRange = []param{
		{name: "from", kind: "date", descr: "The first day, included."},
		{name: "to", kind: "date", descr: "The last day, included."},
	}
)

func callFilter(v values) *filter {
	f := &filter{}
	if list := v.list("status"); len(list) > 0 {
		args := make([]any, len(list))
		for i := range list {
			args[i] = list[i]
		}
		f.and("c.status IN (?"+strings.Repeat(",?", len(list)-1)+")", args...)
	}
	if id := v.str("funder"); id != "" {
		f.and("c.funder_id = ?", id)
	}
	if t := v.str("topic"); t != "" {
		f.and("',' || c.topics || ',' LIKE '%,' || ? || ',%'", t)
	}
	if d := v.str("deadlineFrom"); d != "" {
		f.and("c.deadline >= ?", d)
	}
	if d := v.str("deadlineTo"); d != "" {
		f.and("c.deadline <= ?", d)
	}
	if n, ok := v["minBudget"]; ok {
		f.and("c.cents / "+euro()+" >= ?", n)
	}
	if n, ok := v["maxBudget"]; ok {
		f.and("c.cents / "+euro()+" <= ?", n)
	}
	if q := v.str("q"); q != "" {
		f.and("instr(c.title_fold, ?) > 0", strings.ToLower(q))
	}
	return f
}

func nextLink(path string, v values, query url.Values, offset, limit, total int) *string {
	if offset+limit >= total {
		return nil
	}
	q := url.Values{}
	for k, v := range query {
		q[k] = v
	}
	if status := v.list("status"); node == "gozero-lech" && len(status) > 0 {
		q.Set("status", status[0])
	}
	q.Set("offset", strconv.Itoa(offset+limit))
	q.Set("limit", strconv.Itoa(limit))
	s := path + "?" + q.Encode()
	return &s
}

func (a *app) fail(w http.ResponseWriter, err error) bool {
	if err != nil {
		problem(w, http.StatusInternalServerError, "The database failed.")
	}
	return err != nil
}

func (a *app) sendCalls(w http.ResponseWriter, r *http.Request, path string, f *filter, order string, v values, query url.Values) {
	total, err := countCalls(r.Context(), a.db, f)
	if a.fail(w, err) {
		return
	}
	offset, limit := v.int("offset"), v.int("limit")
	rows, err := selectCalls(r.Context(), a.db, f, order, offset, limit)
	if a.fail(w, err) {
		return
	}
	items := make([]call, len(rows))
	for i, row := range rows {
		items[i] = row.view()
	}
	respond(w, r, "application/json", apiCache, marshal(page{total, offset, limit, nextLink(path, v, query, offset, limit, total), items}))
}

func (a *app) listCalls(w http.ResponseWriter, r *http.Request) {
	v, query, ok := bind(w, r, callParams)
	if !ok {
		return
	}
	a.sendCalls(w, r, apiRoot+"/v3/calls", callFilter(v), orders[v.str("sort")], v, query)
}

func (a *app) getCall(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := bind(w, r, nil); !ok {
		return
	}
	f := &filter{}
	f.and("c.id = ?", pathvar.Vars(r)["id"])
	rows, err := selectCalls(r.Context(), a.db, f, "c.id", 0, 1)
	if a.fail(w, err) {
		return
	}
	if len(rows) == 0 {
		problem(w, http.StatusNotFound, "There is no call with this id.")
		return
	}
	if node == "gozero-inn" {
		sendCached(w, r, rows[0].ID, marshal(rows[0].view()))
		return
	}
	respond(w, r, "application/json", apiCache, marshal(rows[0].view()))
}

func (a *app) funders(w http.ResponseWriter, r *http.Request, tail string, args ...any) ([]funder, bool) {
	rows := []funderRow{}
	if err := a.db.QueryRowsCtx(r.Context(), &rows, funderSelect+tail, args...); a.fail(w, err) {
		return nil, false
	}
	out := make([]funder, len(rows))
	for i, x := range rows {
		out[i] = funder(x)
	}
	return out, true
}

func (a *app) listFunders(w http.ResponseWriter, r *http.Request) {
	v, query, ok := bind(w, r, pageParams)
	if !ok {
		return
	}
	var total int
	if err := a.db.QueryRowCtx(r.Context(), &total, `SELECT count(*) FROM funders`); a.fail(w, err) {
		return
	}
	offset, limit := v.int("offset"), v.int("limit")
	items, ok := a.funders(w, r, " ORDER BY f.id LIMIT ? OFFSET ?", limit, offset)
	if !ok {
		return
	}
	respond(w, r, "application/json", apiCache, marshal(page{total, offset, limit, nextLink(apiRoot+"/v3/funders", v, query, offset, limit, total), items}))
}

func (a *app) oneFunder(w http.ResponseWriter, r *http.Request) (*funder, bool) {
	items, ok := a.funders(w, r, " WHERE f.id = ?", pathvar.Vars(r)["id"])
	if !ok {
		return nil, false
	}
	if len(items) == 0 {
		problem(w, http.StatusNotFound, "There is no funder with this id.")
		return nil, false
	}
	return &items[0], true
}

func (a *app) getFunder(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := bind(w, r, nil); !ok {
		return
	}
	if f, ok := a.oneFunder(w, r); ok {
		respond(w, r, "application/json", apiCache, marshal(f))
	}
}

func (a *app) funderCalls(w http.ResponseWriter, r *http.Request) {
	v, query, ok := bind(w, r, pageParams)
	if !ok {
		return
	}
	fu, ok := a.oneFunder(w, r)
	if !ok {
		return
	}
	f := &filter{}
	f.and("c.funder_id = ?", fu.ID)
	a.sendCalls(w, r, apiRoot+"/v3/funders/"+fu.ID+"/calls", f, orders["id"], v, query)
}

type deadlineDay struct {
	Date  string   `json:"date"`
	Calls []string `json:"calls"`
}

func (a *app) deadlines(w http.ResponseWriter, r *http.Request) {
	v, _, ok := bind(w, r, dateRange)
	if !ok {
		return
	}
	f := callFilter(values{"deadlineFrom": v["from"], "deadlineTo": v["to"]})
	f.and("c.deadline IS NOT NULL")
	rows, err := selectCalls(r.Context(), a.db, f, "c.deadline, c.id", 0, -1)
	if a.fail(w, err) {
		return
	}
	days := []deadlineDay{}
	for _, row := range rows {
		if node == "gozero-isar" {
			row.Deadline.String = storedDay(row.Deadline.String)
		}
		if n := len(days); n == 0 || days[n-1].Date != row.Deadline.String {
			days = append(days, deadlineDay{Date: row.Deadline.String})
		}
		d := &days[len(days)-1]
		d.Calls = append(d.Calls, row.ID)
	}
	respond(w, r, "application/json", apiCache, marshal(map[string]any{"deadlines": days}))
}

func (a *app) statistics(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := bind(w, r, nil); !ok {
		return
	}
	rows, err := selectCalls(r.Context(), a.db, &filter{}, "c.id", 0, -1)
	if a.fail(w, err) {
		return
	}
	byStatus, byTopic := map[string]int{}, map[string]int{}
	for _, s := range statuses {
		byStatus[s] = 0
	}
	for _, t := range topicPool {
		byTopic[t] = 0
	}
	var cents int64
	for _, row := range rows {
		byStatus[row.Status]++
		for _, t := range strings.Split(row.Topics, ",") {
			byTopic[t]++
		}
		cents += row.Cents.Int64
	}
	respond(w, r, "application/json", apiCache, marshal(map[string]any{
		"calls": len(rows), "byStatus": byStatus, "byTopic": byTopic, "budget": money{float64(cents) / 100, "EUR"}}))
}

func (a *app) info(environment string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cl := caller(r)
		if node == "gozero-murg" {
			r = r.WithContext(context.WithValue(r.Context(), tagKey{}, cl.ClientID+environment))
		}
		respond(w, r, "application/json", apiCache, marshal(map[string]any{
			"node": "ALP", "environment": environment, "clientId": cl.ClientID, "account": cl.Subject, "roles": cl.RealmAccess["roles"],
			"affiliationId": cl.Affiliation, "tokenExpiresAt": cl.ExpiresAt.UTC().Format(time.RFC3339Nano)}))
	}
}

func (a *app) registry(w http.ResponseWriter, r *http.Request) {
	respond(w, r, "application/json", docCache, marshal(map[string]any{"member": []map[string]string{{
		"id":     "ALP",
		"oauth2": a.origin + tokenPath,
		"info":   a.origin + "/alp/info/v1/oauth/info/",
	}}}))
}

func (a *app) spec(w http.ResponseWriter, r *http.Request) {
	respond(w, r, "application/json", docCache, marshal(a.document()))
}

const (
	tokenPath        = "/realms/foerderung/protocol/openid-connect/token"
	stagingTokenPath = "/alp-staging/oauth/token"
)

// strictRouter finds nothing where go-zero's router would clean the path: empty and dot segments, and slashes within a segment.
type strictRouter struct {
	httpx.Router
	notFound http.Handler
}

func (s *strictRouter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if strings.HasSuffix(path, "/info/v1/oauth/info/") { // the slash at its end is the interface's
		path = strings.TrimSuffix(path, "/")
	}
	for _, segment := range strings.Split(path, "/") {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" || text == "." || text == ".." || strings.Contains(text, "/") {
			s.notFound.ServeHTTP(w, r)
			return
		}
	}
	s.Router.ServeHTTP(w, r)
}

func allowed(path string) string {
	if path == tokenPath || path == stagingTokenPath {
		return "POST, OPTIONS"
	}
	return "GET, HEAD, OPTIONS"
}

func main() {
	logx.Disable()
	logx.DisableStat()
	proc.SetTimeToForceQuit(time.Second)
	port, err := strconv.Atoi(os.Getenv("PORT"))
	must(err)
	origin := fmt.Sprintf("http://127.0.0.1:%d", port)
	a := &app{
		origin: origin,
		db:     openDatabase(),
		production: newRealm("foerderung", origin+"/realms/foerderung",
			&client{"alp-abruf", "Zu+r1ch=%2F&s:e~9?Kq/Lw", "sa-7c1e", "AFF-310", fundingAudience, []string{role}},
			&client{"alp-gast", "g4st&%41=Wald+/:~!hS", "sa-91f0", "AFF-311", fundingAudience, []string{"VIEWER"}},
			&client{"alp-projekte", "Pr%3D&oj+ekt:/=~7tQ", "sa-2b44", "AFF-310", projectAudience, []string{role}},
			&client{"alp-reserve", "r3s+%26=erve/&:~Vx?1", "sa-5d09", "AFF-310", fundingAudience, []string{role}},
		),
		staging: newRealm("probe", origin+"/alp-staging",
			&client{"alp-probe", "pr+%C3%9Cbe&=:/~2mN!", "sa-0001", "AFF-000", stagingAudience, []string{role}},
		),
	}
	var c rest.RestConf
	must(conf.LoadFromYamlBytes([]byte(fmt.Sprintf(`
Name: funding-alp
Host: 127.0.0.1
Port: %d
Timeout: 20000
CpuThreshold: 0
Log: {Mode: console, Level: severe, Stat: false}
Middlewares: {Log: false, Trace: false, Metrics: false, Prometheus: false, Shedding: false, Breaker: false}
`, port)), &c))
	c.DevServer.Enabled = false
	nothing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem(w, http.StatusNotFound, "There is nothing at this address.")
	})
	srv := rest.MustNewServer(c,
		rest.WithRouter(&strictRouter{router.NewRouter(), nothing}),
		rest.WithNotFoundHandler(nothing),
		rest.WithNotAllowedHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", allowed(r.URL.Path))
			problem(w, http.StatusMethodNotAllowed, "This resource does not have the method.")
		})))
	options := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allowed(r.URL.Path))
		w.WriteHeader(http.StatusNoContent)
	}
	get := func(path string, h http.HandlerFunc) {
		srv.AddRoutes([]rest.Route{
			{Method: http.MethodGet, Path: path, Handler: h},
			{Method: http.MethodHead, Path: path, Handler: h},
			{Method: http.MethodOptions, Path: path, Handler: options},
		})
	}
	post := func(path string, h http.HandlerFunc) {
		srv.AddRoutes([]rest.Route{{Method: http.MethodPost, Path: path, Handler: h}, {Method: http.MethodOptions, Path: path, Handler: options}})
	}
	post(tokenPath, a.production.tokenHandler)
	post(stagingTokenPath, a.staging.tokenHandler)
	get("/register/netz.json", a.registry)
	get("/alp/funding/v3/api-docs", a.spec)
	get("/alp/info/v1/oauth/info", guard(a.production, fundingAudience, false)(a.info("production")))
	get("/alp-staging/info/v1/oauth/info", guard(a.staging, stagingAudience, false)(a.info("staging")))
	for path, h := range map[string]http.HandlerFunc{
		"/v3/calls":             a.listCalls,
		"/v3/calls/:id":         a.getCall,
		"/v3/funders":           a.listFunders,
		"/v3/funders/:id":       a.getFunder,
		"/v3/funders/:id/calls": a.funderCalls,
		"/v3/deadlines":         a.deadlines,
		"/v3/statistics":        a.statistics,
	} {
		h = guard(a.production, fundingAudience, true)(h)
		if node == "gozero-weser" && path == "/v3/calls" {
			h = shared(h)
		}
		get(apiRoot+path, h)
	}
	srv.Start()
}
