package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
)

type fundingAPI struct{ store *store }

// callView is a call as the API delivers it.
type callView struct {
	ID           string     `json:"id"`
	State        string     `json:"state"`
	Title        []Text     `json:"title"`
	Summary      []Text     `json:"summary,omitempty"`
	Funder       FunderRef  `json:"funder"`
	OpensAt      time.Time  `json:"opensAt"`
	ClosesAt     *time.Time `json:"closesAt"`
	Budget       Budget     `json:"budget"`
	Subjects     []string   `json:"subjects"`
	TargetGroups []string   `json:"targetGroups"`
	MaxMonths    int        `json:"maxDurationMonths,omitempty"`
	Website      string     `json:"website"`
	UpdatedAt    time.Time  `json:"updatedAt"`
}

func state(c *Call, now time.Time) string {
	switch {
	case now.Before(c.OpensAt):
		return "UPCOMING"
	case c.ClosesAt != nil && !now.Before(*c.ClosesAt):
		return "CLOSED"
	}
	return "OPEN"
}

func view(c *Call, full bool, now time.Time) callView {
	v := callView{ID: c.ID, State: state(c, now), Title: c.Title, Funder: c.Funder, OpensAt: c.OpensAt, ClosesAt: c.ClosesAt,
		Budget: c.Budget, Subjects: c.Subjects, TargetGroups: c.TargetGroups, Website: c.Website, UpdatedAt: c.UpdatedAt}
	if full {
		v.Summary, v.MaxMonths = c.Summary, c.MaxMonths
	}
	return v
}

func fail(c *gin.Context, status int, code, text string) {
	c.Header("Cache-Control", "no-store")
	c.AbortWithStatusJSON(status, gin.H{"error": gin.H{"code": code, "message": text, "reference": randomText(9)}})
}

// gzipAllowed reads Accept-Encoding with its weights.
func gzipAllowed(header string) bool {
	any := false
	for _, part := range strings.Split(header, ",") {
		name, params, _ := strings.Cut(part, ";")
		q := 1.0
		if k, v, ok := strings.Cut(strings.TrimSpace(params), "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			q, _ = strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return q > 0
		case "*":
			any = q > 0
		}
	}
	return any
}

func matches(header, tag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for _, t := range strings.Split(header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(t), "W/") == tag {
			return true
		}
	}
	return false
}

func sendJSON(c *gin.Context, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		fail(c, 500, "internal", "The request could not be served.")
		return
	}
	send(c, body)
}

// send writes a JSON body with a strong entity tag, compressed where the client likes it.
func send(c *gin.Context, body []byte) {
	h := c.Writer.Header()
	h.Add("Vary", "Accept-Encoding")
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:12])
	zip := len(body) > 1024 && gzipAllowed(strings.Join(c.Request.Header.Values("Accept-Encoding"), ","))
	if zip {
		tag += "-gz"
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if in := strings.Join(c.Request.Header.Values("If-None-Match"), ","); in != "" && matches(in, tag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	if zip {
		var buf bytes.Buffer
		w := gzip.NewWriter(&buf)
		_, _ = w.Write(body)
		_ = w.Close()
		body = buf.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Type", "application/json; charset=utf-8")
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(body)
	}
}

var cursorForm = regexp.MustCompile(`^RC-[0-9]{4,6}$`)

// dayOf reads a calendar date.
func dayOf(s string) (time.Time, error) {
	if opt.localDays {
		zone, err := time.LoadLocation("Europe/Vienna")
		if err != nil {
			return time.Time{}, err
		}
		return time.ParseInLocation("2006-01-02", s, zone)
	}
	return time.Parse("2006-01-02", s)
}

// list delivers the published calls, ordered by identifier.
func (a *fundingAPI) list(c *gin.Context) {
	bad := func(name, text string) { fail(c, 400, "invalid_parameter", name+": "+text) }
	q, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		bad("query", "cannot be read")
		return
	}
	for _, name := range []string{"limit", "after", "funder", "state", "closesFrom", "closesTo", "q"} {
		if v, ok := q[name]; ok && (len(v) > 1 || v[0] == "") {
			bad(name, "must be sent once and with a value")
			return
		}
	}
	limit := 20
	if v := q.Get("limit"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 || limit > 50 {
			bad("limit", "must be an integer from 1 to 50")
			return
		}
	}
	after := ""
	if v := q.Get("after"); v != "" {
		raw, err := base64.RawURLEncoding.DecodeString(v)
		if after = string(raw); err != nil || !cursorForm.MatchString(after) {
			bad("after", "is no cursor of this list")
			return
		}
	}
	funder := q.Get("funder")
	if funder != "" && findFunder(funder) == nil {
		bad("funder", "there is no such funder")
		return
	}
	want := q.Get("state")
	if want != "" && !contains([]string{"UPCOMING", "OPEN", "CLOSED"}, want) {
		if !opt.laxBinding {
			bad("state", "must be UPCOMING, OPEN or CLOSED")
			return
		}
		want = ""
	}
	var from, to time.Time
	hasFrom, hasTo := q.Get("closesFrom") != "", q.Get("closesTo") != ""
	if v := q.Get("closesFrom"); v != "" {
		if from, err = dayOf(v); err != nil {
			bad("closesFrom", "must be a date like 2027-01-31")
			return
		}
	}
	if v := q.Get("closesTo"); v != "" {
		if to, err = dayOf(v); err != nil {
			bad("closesTo", "must be a date like 2027-01-31")
			return
		}
		to = to.AddDate(0, 0, 1)
	}
	text := strings.ToLower(q.Get("q"))
	if n := utf8.RuneCountInString(q.Get("q")); text != "" && (n < 2 || n > 60 || !utf8.ValidString(q.Get("q"))) {
		bad("q", "must have 2 to 60 characters")
		return
	}

	now := time.Now()
	items, next, total, err := a.store.page(after, limit, func(k *Call) bool {
		if !k.Published || funder != "" && k.Funder.ID != funder || want != "" && state(k, now) != want {
			return false
		}
		if hasFrom && (k.ClosesAt == nil || k.ClosesAt.Before(from)) {
			return false
		}
		if hasTo && (k.ClosesAt == nil || !k.ClosesAt.Before(to)) {
			return false
		}
		if text == "" {
			return true
		}
		for _, t := range k.Title {
			if strings.Contains(strings.ToLower(t.Text), text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		fail(c, 500, "internal", "The request could not be served.")
		return
	}
	views := make([]callView, 0, len(items))
	for i := range items {
		views = append(views, view(&items[i], false, now))
	}
	page := gin.H{"size": len(views), "next": nil}
	if next != "" {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(next))
		page["next"] = cursor
		q.Set("after", cursor)
		c.Header("Link", "<"+origin+apiBase+"/calls?"+q.Encode()+`>; rel="next"`)
	}
	c.Header("Cache-Control", "private, no-cache")
	sendJSON(c, gin.H{"items": views, "page": page, "matching": total})
}

func (a *fundingAPI) detail(c *gin.Context) {
	k, ok := a.store.get(c.Param("id"))
	if !ok || !k.Published && !opt.openDrafts {
		fail(c, 404, "not_found", "There is no such call.")
		return
	}
	c.Header("Cache-Control", "private, no-cache")
	v := view(&k, true, time.Now())
	c.Set("view", v)
	sendJSON(c, v)
}

func findFunder(id string) *Funder {
	for i := range funderList {
		if funderList[i].ID == id {
			return &funderList[i]
		}
	}
	return nil
}

func (a *fundingAPI) funders(c *gin.Context) {
	c.Header("Cache-Control", "private, max-age=60")
	list := funderList
	if opt.single {
		k, _ := a.store.get("RC-0001")
		list = []Funder{*findFunder(k.Funder.ID)}
	}
	sendJSON(c, gin.H{"items": list})
}

func (a *fundingAPI) funder(c *gin.Context) {
	f := findFunder(c.Param("id"))
	if f == nil {
		fail(c, 404, "not_found", "There is no such funder.")
		return
	}
	c.Header("Cache-Control", "private, max-age=60")
	sendJSON(c, f)
}

// cached keeps answers for a while.
func cached(d time.Duration) gin.HandlerFunc {
	type entry struct {
		v     any
		until time.Time
	}
	var mu sync.Mutex
	kept := map[string]entry{}
	return func(c *gin.Context) {
		key := c.Request.URL.RequestURI()
		mu.Lock()
		e, ok := kept[key]
		mu.Unlock()
		if ok && time.Now().Before(e.until) {
			c.Header("Vary", "Authorization")
			c.Header("Cache-Control", "private, no-cache")
			sendJSON(c, e.v)
			c.Abort()
			return
		}
		c.Next()
		if v, ok := c.Get("view"); ok {
			mu.Lock()
			kept[key] = entry{v, time.Now().Add(d)}
			mu.Unlock()
		}
	}
}

// pace makes answers slow and limits requests on the API per window of ten seconds.
func pace() gin.HandlerFunc {
	var mu sync.Mutex
	start, n := time.Now(), 0
	const window, most = 10 * time.Second, 25
	return func(c *gin.Context) {
		if !strings.HasPrefix(c.Request.URL.Path, apiBase+"/calls") && !strings.HasPrefix(c.Request.URL.Path, apiBase+"/funders") {
			time.Sleep(150 * time.Millisecond)
			return
		}
		mu.Lock()
		if time.Since(start) > window {
			start, n = time.Now(), 0
		}
		n++
		over, wait := n > most, window-time.Since(start)
		mu.Unlock()
		if over {
			c.Header("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
			fail(c, 429, "too_many_requests", "Please slow down.")
			return
		}
		time.Sleep(600 * time.Millisecond)
	}
}

func registry() gin.H {
	return gin.H{"member": []gin.H{{
		"id": "SUED", "name": "Forschungsknoten Süd",
		"oauth2": origin + realmPath + "/protocol/openid-connect/token",
		"info":   origin + prefix + "/info/v1/oauth/info/",
	}}}
}
