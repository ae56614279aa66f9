package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed openapi.json
var openAPI string

const private = "private, max-age=0, must-revalidate"

type api struct {
	cfg   config
	store *store
	auth  *authServer
	spec  rawJSON
}

type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

func newAPI(cfg config, s *store, auth *authServer) *api {
	doc := strings.ReplaceAll(openAPI, "{{BASE}}", cfg.baseURL)
	if cfg.name == "go-strict-params" {
		doc = strings.ReplaceAll(doc, "Query parameters that are not described here are ignored.",
			"Query parameters that are not described here are refused with 400, so that a misspelt filter is not mistaken for an unfiltered list.")
		doc = strings.ReplaceAll(doc, "A query parameter is malformed, repeated or out of range.",
			"A query parameter is malformed, repeated, out of range or not described here.")
	}
	return &api{cfg: cfg, store: s, auth: auth, spec: rawJSON(doc)}
}

func (a *api) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g, ok := a.auth.bearer(w, r)
		if !ok {
			return
		}
		if !g.hasRole(fundingRole) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="danube", error="insufficient_scope", error_description="The role EXTERNAL_API_CLIENT is needed"`)
			problem(w, r, http.StatusForbidden, "Forbidden", "The service account lacks the role EXTERNAL_API_CLIENT.")
			return
		}
		w.Header().Add("Vary", "Accept")
		if !acceptsJSON(r) {
			problem(w, r, http.StatusNotAcceptable, "Not acceptable", "This resource is available as application/json.")
			return
		}
		next(w, r)
	}
}

type infoView struct {
	Node           string   `json:"node"`
	Environment    string   `json:"environment"`
	ClientID       string   `json:"clientId"`
	ServiceAccount string   `json:"serviceAccount"`
	Affiliation    string   `json:"affiliation"`
	Roles          []string `json:"roles"`
	ExpiresAt      string   `json:"expiresAt"`
}

func (a *api) info(auth *authServer, environment string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g, ok := auth.bearer(w, r)
		if !ok {
			return
		}
		roles := g.client.Roles
		if roles == nil {
			roles = []string{}
		}
		w.Header().Set("Cache-Control", "no-store")
		writeRaw(w, http.StatusOK, "application/json", infoView{
			"DANUBE", environment, g.client.ID, g.client.ServiceAccount, g.client.Affiliation, roles, g.expires.UTC().Format(time.RFC3339),
		})
	}
}

func (a *api) registry(w http.ResponseWriter, r *http.Request) {
	type member struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Mail   string `json:"contact"`
		OAuth2 string `json:"oauth2"`
		Info   string `json:"info"`
	}
	a.send(w, r, "public, max-age=300", map[string]any{"member": []member{{
		"DANUBE", "Danube Research Fund", "ris@danube-research.invalid",
		a.cfg.issuer + "/protocol/openid-connect/token",
		a.cfg.baseURL + "/ris/info/v1/oauth/info/",
	}}})
}

func (a *api) document(w http.ResponseWriter, r *http.Request) {
	a.send(w, r, "public, max-age=300", a.spec)
}

type funderRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type callSummary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Funder    funderRef `json:"funder"`
	Themes    []string  `json:"themes"`
	Budget    money     `json:"budget"`
	OpensOn   string    `json:"opensOn"`
	Deadline  *string   `json:"deadline,omitempty"`
	Published string    `json:"publishedAt"`
}

type callDetail struct {
	callSummary
	Summary           string   `json:"summary"`
	MaxDurationMonths int      `json:"maxDurationMonths"`
	EligibleCountries []string `json:"eligibleCountries"`
	Contact           string   `json:"contact"`
	UpdatedAt         string   `json:"updatedAt"`
	DocumentCount     int      `json:"documentCount"`
}

func (a *api) summary(c call, lang string) callSummary {
	v := callSummary{
		ID: c.ID, Title: c.Title[lang], Status: c.status(time.Now()), Funder: funderRef{c.Funder.ID, c.Funder.Name},
		Themes: c.Themes, Budget: c.Budget, OpensOn: c.Opens.Format(time.DateOnly), Published: c.Published.Format(time.RFC3339),
	}
	if !c.Deadline.IsZero() || a.cfg.name == "go-rolling-zero-time" {
		deadline := c.Deadline.Format(time.RFC3339)
		v.Deadline = &deadline
	}
	return v
}

// query reads the parameters of a list and collects what is wrong with them.
type query struct {
	values url.Values
	known  []string
	err    string
}

func (q *query) get(name string) (string, bool) {
	q.known = append(q.known, name)
	v, ok := q.values[name]
	if !ok {
		return "", false
	}
	if len(v) > 1 {
		q.err = "The parameter " + name + " is given more than once."
	}
	return v[0], true
}

func (q *query) integer(name string, fallback, low, high int64) int64 {
	s, ok := q.get(name)
	if !ok {
		return fallback
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high {
		q.err = fmt.Sprintf("The parameter %s must be an integer between %d and %d.", name, low, high)
		return fallback
	}
	return n
}

func (q *query) day(name string) (time.Time, bool) {
	s, ok := q.get(name)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		q.err = "The parameter " + name + " must be a date such as 2026-03-31."
	}
	return t, true
}

func (q *query) choice(name, fallback string, among ...string) string {
	s, ok := q.get(name)
	if !ok {
		return fallback
	}
	if !slices.Contains(among, s) {
		q.err = "The parameter " + name + " must be one of " + strings.Join(among, ", ") + "."
	}
	return s
}

func byDeadline(x, y call) int { return x.Deadline.Compare(y.Deadline) }

func (a *api) listCalls(w http.ResponseWriter, r *http.Request) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		problem(w, r, http.StatusBadRequest, "Bad request", "The query cannot be read.")
		return
	}
	q := &query{values: values}
	page := q.integer("page", 1, 1, 1000000)
	perPage := q.integer("perPage", 20, 1, 50)
	status := q.choice("status", "", "open", "forthcoming", "closed")
	funderID, byFunder := q.get("funder")
	theme, byTheme := q.get("theme")
	minBudget := q.integer("minBudget", 0, 0, 1<<53)
	from, hasFrom := q.day("deadlineFrom")
	to, hasTo := q.day("deadlineTo")
	text, _ := q.get("q")
	sort := q.choice("sort", "id", "id", "-id", "deadline", "-deadline", "budget", "-budget", "publishedAt", "-publishedAt")
	if a.cfg.name == "go-strict-params" {
		for name := range values {
			if !slices.Contains(q.known, name) {
				q.err = "The parameter " + strconv.QuoteToASCII(name) + " is not known."
			}
		}
	}
	if q.err != "" {
		problem(w, r, http.StatusBadRequest, "Bad request", q.err)
		return
	}

	lang := language(r)
	var found []call
	for _, c := range a.store.calls {
		switch {
		case c.Draft,
			status != "" && c.status(time.Now()) != status,
			byFunder && c.Funder.ID != funderID,
			byTheme && !slices.Contains(c.Themes, theme),
			c.Budget.Amount < minBudget,
			(hasFrom || hasTo) && c.Deadline.IsZero(),
			hasFrom && c.Deadline.Before(from),
			hasTo && !c.Deadline.Before(to.AddDate(0, 0, 1)),
			text != "" && !strings.Contains(strings.ToLower(c.Title[lang]), strings.ToLower(text)):
			continue
		}
		found = append(found, c)
	}
	key, descending := strings.CutPrefix(sort, "-")
	slices.SortStableFunc(found, func(x, y call) int {
		var d int
		switch key {
		case "deadline":
			if x.Deadline.IsZero() != y.Deadline.IsZero() { // no deadline: last
				if x.Deadline.IsZero() {
					return 1
				}
				return -1
			}
			d = byDeadline(x, y)
		case "budget":
			d = cmp.Compare(x.Budget.Amount, y.Budget.Amount)
		case "publishedAt":
			d = x.Published.Compare(y.Published)
		default:
			d = cmp.Compare(x.ID, y.ID)
		}
		if descending {
			d = -d
		}
		return cmp.Or(d, cmp.Compare(x.ID, y.ID))
	})

	total := int64(len(found))
	first := min((page-1)*perPage, total)
	items := []callSummary{}
	for _, c := range found[first:min(first+perPage, total)] {
		items = append(items, a.summary(c, lang))
	}
	last := max((total+perPage-1)/perPage, 1)
	w.Header().Set("X-Total-Count", strconv.FormatInt(total, 10))
	a.links(w, r, values, page, perPage, last)
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Content-Language", lang)
	a.send(w, r, private, items)
}

func (a *api) links(w http.ResponseWriter, r *http.Request, values url.Values, page, perPage, last int64) {
	target := func(n int64) string {
		q := url.Values{}
		for name, v := range values {
			q[name] = v
		}
		if a.cfg.name == "go-next-drops-filter" && n == page+1 {
			q = url.Values{}
			if s := values.Get("sort"); s != "" {
				q.Set("sort", s)
			}
		}
		q.Set("page", strconv.FormatInt(n, 10))
		q.Set("perPage", strconv.FormatInt(perPage, 10))
		if a.cfg.name == "go-relative-links" {
			return "?" + q.Encode()
		}
		return a.cfg.baseURL + r.URL.EscapedPath() + "?" + q.Encode()
	}
	if a.cfg.name == "go-relative-links" {
		h := w.Header()
		h.Add("Link", fmt.Sprintf(`<%s>; title="Page 1, the first; start here"; rel="start first"`, target(1)))
		if page > 1 && page <= last {
			h.Add("Link", fmt.Sprintf(`<%s> ; REL=prev`, target(page-1)))
		}
		if page < last {
			rel := "next"
			if page+1 == last {
				rel = `"next last"`
			}
			h.Add("Link", fmt.Sprintf(`<api-docs>;rel=service-desc;type="application/json",<%s>;rel=%s`, target(page+1), rel))
		}
		if page+1 != last {
			h.Add("Link", fmt.Sprintf(`<%s>;rel=last`, target(last)))
		}
		return
	}
	link := []string{fmt.Sprintf(`<%s>; rel="first"`, target(1))}
	if page > 1 && page <= last {
		link = append(link, fmt.Sprintf(`<%s>; rel="prev"`, target(page-1)))
	}
	if page < last {
		link = append(link, fmt.Sprintf(`<%s>; rel="next"`, target(page+1)))
	}
	link = append(link, fmt.Sprintf(`<%s>; rel="last"`, target(last)))
	w.Header().Set("Link", strings.Join(link, ", "))
}

func (a *api) published(w http.ResponseWriter, r *http.Request) (call, bool) {
	c, ok := a.store.call(r.PathValue("callId"))
	if !ok || c.Draft {
		problem(w, r, http.StatusNotFound, "Not found", "There is no published call with this id.")
		return call{}, false
	}
	return c, true
}

func (a *api) getCall(w http.ResponseWriter, r *http.Request) {
	c, ok := call{}, false
	if a.cfg.name == "go-draft-by-id" {
		if c, ok = a.store.call(r.PathValue("callId")); !ok {
			problem(w, r, http.StatusNotFound, "Not found", "There is no published call with this id.")
		}
	} else {
		c, ok = a.published(w, r)
	}
	if !ok {
		return
	}
	lang := language(r)
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Content-Language", lang)
	a.send(w, r, private, callDetail{
		callSummary: a.summary(c, lang), Summary: c.Summary[lang], MaxDurationMonths: c.MaxMonths,
		EligibleCountries: c.EligibleLands, Contact: c.Contact, UpdatedAt: c.Updated.Format(time.RFC3339), DocumentCount: len(c.Documents),
	})
}

func (a *api) listDocuments(w http.ResponseWriter, r *http.Request) {
	c, ok := a.published(w, r)
	if !ok {
		return
	}
	documents := c.Documents
	if documents == nil {
		documents = []document{}
	}
	a.send(w, r, private, documents)
}

func (a *api) listFunders(w http.ResponseWriter, r *http.Request) {
	a.send(w, r, private, a.store.funders)
}

func (a *api) statistics(w http.ResponseWriter, r *http.Request) {
	type statistics struct {
		TotalCalls int            `json:"totalCalls"`
		ByStatus   map[string]int `json:"byStatus"`
		ByFunder   map[string]int `json:"byFunder"`
		Budget     money          `json:"budget"`
	}
	s := statistics{ByStatus: map[string]int{"open": 0, "forthcoming": 0, "closed": 0}, ByFunder: map[string]int{}, Budget: money{0, "EUR"}}
	for _, c := range a.store.calls {
		if c.Draft {
			continue
		}
		s.TotalCalls++
		s.ByStatus[c.status(time.Now())]++
		s.ByFunder[c.Funder.ID]++
		s.Budget.Amount += c.Budget.Amount
	}
	a.send(w, r, private, s)
}
