package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// This file finds secrets by their form: what a node issues or publishes unasked. Such values become secrets of the redactor, so that they are
// hidden wherever else they are. A text that only resembles a token, such as a UUID, a hash, an ETag or an id, stays readable.

// Names of secrets that are known by their form alone.
const (
	tokenByForm = "token"
	privateKey  = "private_key"
)

const (
	// leastNamed is the length from which a value is hidden because of its name, leastRandom because it looks random.
	leastNamed  = 16
	leastRandom = 32
	// maxFormed bounds the values that are learned by their form; maxFormedLength their length in bytes.
	maxFormed       = 300
	maxFormedLength = 64 << 10
)

// Finder learns the secrets of one answer. Make one with [Redactor.Finder].
type Finder struct {
	redactor *Redactor
	// over are secrets beyond maxFormed: only the answer that contains them is searched for them.
	over  map[string]string // value to name
	forms patterns
	rest  *search // for the values of over; nil until it is needed
}

// Finder returns a finder for one answer.
func (r *Redactor) Finder() *Finder {
	return &Finder{redactor: r, over: map[string]string{}, forms: r.patterns}
}

func (f *Finder) learn(name, value string) {
	if len(value) < ShortSecret || len(value) > maxFormedLength || strings.Contains(value, MarkerStart) {
		return
	}
	if r := f.redactor; !r.learn(name, value, &r.matched, maxFormed) {
		f.over[value] = name
	}
}

// Full reports whether the redactor had no room for some secrets, so that [Finder.Rest] must replace them.
func (f *Finder) Full() bool { return len(f.over) > 0 }

// Rest replaces the secrets of a text for which the redactor has no room.
func (f *Finder) Rest(text string) string {
	if len(f.over) == 0 {
		return text
	}
	text = f.forms.word.ReplaceAllStringFunc(text, func(w string) string {
		if name, ok := f.over[w]; ok {
			return MarkerStart + name + ":too-many]]"
		}
		return w
	})
	if hits := f.restSearch().find(text); len(hits) > 0 {
		return replace(text, hits)
	}
	return text
}

// maxRest bounds the secrets beyond maxFormed that are searched for in every form, such as percent-encoding. An answer with more of them is a list of tokens
// in plain form.
const maxRest = 100

// restSearch finds the secrets beyond maxFormed in other forms than the plain one.
func (f *Finder) restSearch() *search {
	if f.rest == nil {
		var secrets []*secret
		for _, value := range slices.Sorted(maps.Keys(f.over)) {
			if len(secrets) < maxRest {
				secrets = append(secrets, newSecret(f.over[value], value, "too-many"))
			}
		}
		f.rest = newSearch(secrets)
	}
	return f.rest
}

// patterns are the regular expressions that find secrets.
type patterns struct {
	word   *regexp.Regexp // everything that may be a token, a key or a line of a key
	signed *regexp.Regexp // a JWS or JWE, by its characters
	pem    *regexp.Regexp
	name   *regexp.Regexp // names of members, parameters and headers that hold secrets
	page   *regexp.Regexp // names of parameters that say where a page begins
	other  *regexp.Regexp // names of parameters that hold something else that looks random
}

func newPatterns() patterns {
	return patterns{
		word:   regexp.MustCompile(`[A-Za-z0-9._~+/-]{8,}={0,2}`),
		signed: regexp.MustCompile(`^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*)?`),
		pem:    regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END|$)`),
		name: regexp.MustCompile(`(?i)token$|token[-_]?value|secret|passw(or)?d|api[-_]?key|private[-_]?key|credential|assertion|jwt|` +
			`^(proxy-)?authorization$|session[-_]?(id|token)?$|ticket`),
		page:  regexp.MustCompile(`(?i)cursor|page|next|contin`),
		other: regexp.MustCompile(`(?i)cursor|page|after|before|next|offset|start|contin|id$|hash|etag|version`),
	}
}

// Text finds signed tokens and PEM blocks.
func (f *Finder) Text(text string) { f.text([]byte(text)) }

// text is [Finder.Text] for a body, which may be large and is not copied.
func (f *Finder) text(text []byte) {
	for _, start := range tokenStarts() {
		for at := 0; ; {
			k := bytes.Index(text[at:], []byte(start))
			if k < 0 {
				break
			}
			at += k
			t := string(f.forms.signed.Find(text[at:min(len(text), at+maxFormedLength)]))
			if t != "" && isSigned(t) {
				f.learn(tokenByForm, t)
			}
			at += max(len(t), len(start))
		}
	}
	if !bytes.Contains(text, []byte(keyMark)) {
		return
	}
	for _, block := range f.forms.pem.FindAllSubmatch(text, -1) {
		lines := strings.NewReplacer(`\r`, "\n", `\n`, "\n", `\/`, "/").Replace(string(block[1])) // a block in a JSON string
		for line := range strings.FieldsSeq(lines) {
			f.learn(privateKey, strings.TrimRight(line, `",`))
		}
	}
}

// isSigned reports whether a token is a JWS or JWE in compact form: its first part is a JSON object with an algorithm (RFC 7515 §4.1.1).
func isSigned(token string) bool {
	first, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(first)
	var header struct {
		Algorithm *string `json:"alg"`
	}
	return err == nil && json.Unmarshal(raw, &header) == nil && header.Algorithm != nil
}

// Header finds secrets in a header field.
func (f *Finder) Header(name, value string) {
	f.Text(value)
	if name = strings.ToLower(name); isHashField(name) {
		return
	}
	if strings.Contains(value, "://") || slices.Contains([]string{"location", "content-location", "refresh", "link"}, name) {
		for _, reference := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" <>,;\"'", c) }) {
			f.URL(strings.TrimPrefix(reference, "url="))
		}
		return
	}
	for _, w := range f.forms.word.FindAllString(value, -1) {
		if isRandom(w) || IsOpaque(w) && f.forms.name.MatchString(name) {
			f.learn(tokenByForm, w)
		}
	}
}

// isHashField reports whether a header field contains hashes or ids, which may look as random as a token.
func isHashField(name string) bool {
	if slices.Contains([]string{"etag", "content-md5", "traceparent", "tracestate", "cf-ray", "content-security-policy", "content-security-policy-report-only",
		"report-to", "nel", "set-cookie", "server-timing", "via", "sec-websocket-accept", "content-type", "content-disposition", "x-cache",
		"www-authenticate", "proxy-authenticate", "authentication-info",
	}, name) {
		return true
	}
	return strings.HasSuffix(name, "digest") || strings.HasSuffix(name, "-id") || strings.HasSuffix(name, "-etag") || strings.HasSuffix(name, "-hash") || strings.HasSuffix(name, "-trace")
}

// URL finds secrets in a URL or a reference. A path may hold ids, which look random, too.
func (f *Finder) URL(text string) {
	f.Text(text)
	u, err := url.Parse(text)
	if err != nil {
		return
	}
	for _, query := range []string{u.RawQuery, u.EscapedFragment()} {
		for pair := range strings.SplitSeq(query, "&") {
			name, escaped, _ := strings.Cut(pair, "=")
			value, err := url.QueryUnescape(escaped)
			if err != nil {
				continue
			}
			named := !f.forms.page.MatchString(name) && f.forms.name.MatchString(name) || slices.Contains([]string{"code", "sig", "signature", "key", "sid"}, strings.ToLower(name))
			if named && IsOpaque(value) || !f.forms.other.MatchString(name) && isRandom(value) {
				f.learn(tokenByForm, value)
			}
		}
	}
}

// Body finds secrets in a body: signed tokens, private keys, and the values of members that are named like a token. issuing is true for an answer that issues
// tokens: all random-looking text in it counts as a secret. looseNames is true for such an answer and for one that reports an error: more names count as names of
// secrets. cut is as for [Redactor.Parted], or nil.
func (f *Finder) Body(body []byte, cut func() [][]byte, issuing, looseNames bool) {
	key := readBody{f.redactor.contentOf(body), issuing, looseNames}
	if f.redactor.hasRead(key) {
		return
	}
	defer func() {
		if !f.Full() {
			f.redactor.setRead(key)
		}
	}()
	if cut != nil && !issuing && !looseNames {
		if parts := cut(); len(parts) > 1 && !slices.ContainsFunc(parts, f.showsSecret) {
			return
		}
	}
	f.text(body)
	if issuing {
		for _, w := range f.forms.word.FindAllString(string(body), -1) {
			if isRandom(w) {
				f.learn(tokenByForm, w)
			}
		}
	}
	if issuing || looseNames || slices.ContainsFunc(namedSecrets(), func(s string) bool { return bytes.Contains(body, []byte(s)) }) {
		f.members(body, issuing || looseNames)
	}
}

// namedSecrets returns texts that show that a body has members with secrets, whatever the request was.
func namedSecrets() []string { return []string{`"kty"`, `"keys"`, `_token"`, `"client_secret"`} }

// tokenStarts returns the beginnings of tokens, which are JSON objects in base64url: of {" and of { before a blank or a line end.
func tokenStarts() []string { return []string{"eyJ", "eyA", "ewo", "ew0"} }

// keyMark is in each private key in PEM.
const keyMark = "PRIVATE KEY"

// showsSecret reports whether an item contains something by which [Finder.Body] finds secrets. It remembers items that do not.
func (f *Finder) showsSecret(item []byte) bool {
	key := readBody{content: f.redactor.contentOf(item)}
	if f.redactor.hasRead(key) {
		return false
	}
	for _, mark := range slices.Concat(tokenStarts(), namedSecrets(), []string{keyMark}) {
		if bytes.Contains(item, []byte(mark)) {
			return true
		}
	}
	f.redactor.setRead(key)
	return false
}

// object is an object of a body while it is read.
type object struct {
	name        string // the member whose value is read
	expectsName bool   // the next token is a member's name
	array       bool
	isJWK       bool     // it is a JSON Web Key: it has the member kty, or is in a list of keys
	values      []string // values of members that are private in a JSON Web Key
}

// members reads the strings of a JSON body one after the other, up to its end or its first fault.
func (f *Finder) members(body []byte, looseNames bool) {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	var open []object
	ended := func() { // a value was read
		if n := len(open); n > 0 && !open[n-1].array {
			open[n-1].expectsName = true
		}
	}
	for {
		token, err := in.Token()
		if err != nil {
			return
		}
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				n := len(open)
				open = append(open, object{expectsName: true, isJWK: n > 0 && open[n-1].array && open[n-1].name == "keys"})
			case '[':
				name := ""
				if n := len(open); n > 0 {
					name = open[n-1].name
				}
				open = append(open, object{array: true, name: name})
			default:
				last := open[len(open)-1]
				for _, value := range last.values {
					if last.isJWK {
						f.learn(privateKey, value)
					}
				}
				open = open[:len(open)-1]
				ended()
			}
		case string:
			if len(open) == 0 {
				return
			}
			top := &open[len(open)-1]
			if top.expectsName {
				top.name, top.expectsName = token, false
				top.isJWK = top.isJWK || token == "kty"
				continue
			}
			if slices.Contains([]string{"d", "p", "q", "dp", "dq", "qi", "k", "r", "t"}, top.name) { // RFC 7518 §6
				top.values = append(top.values, token)
			}
			if (slices.Contains([]string{"access_token", "refresh_token", "id_token", "client_secret"}, top.name) || looseNames && f.forms.name.MatchString(top.name)) && IsOpaque(token) {
				f.learn(tokenByForm, token)
			}
			ended()
		default:
			ended()
		}
	}
}

// IsOpaque reports whether a value may be a secret, if its name says so: it is one word of some length that is not made of plain words.
func IsOpaque(s string) bool {
	return len(s) >= leastNamed && isWord(s) && (strings.ContainsAny(s, "0123456789") || strings.ToLower(s) != s && strings.ToUpper(s) != s) && !strings.Contains(s, "://")
}

// isWord reports whether s has only characters of a token (RFC 6750 §2.1).
func isWord(s string) bool {
	s = strings.TrimRight(s, "=")
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c > 0x7f || !IsAlphanumeric(byte(c)) && !strings.ContainsRune("-._~+/", c)
	})
}

// isRandom reports whether a word looks random: it is long, and often changes between capitals, small letters and digits. Hashes and UUIDs in
// hexadecimal have one case, and names have whole words. One random token in a hundred has hardly a digit, or changes less often; it is
// recognised because it has about as many capitals as small letters, unlike names.
func isRandom(s string) bool {
	if len(s) < leastRandom || !isWord(s) || strings.HasPrefix(s, "/") {
		return false
	}
	var count [3]int
	changes, before := 0, -1
	for i := range len(s) {
		c := class(s[i])
		if c < 0 {
			continue // separates words
		}
		count[c]++
		if before >= 0 && c != before {
			changes++
		}
		before = c
	}
	letters := count[0] + count[1]
	all := letters + count[2]
	if count[0] < 2 || count[1] < 2 {
		return false
	}
	inCapitals := 2*count[1] >= letters && 5*count[0] >= letters // more than names of several words have
	return count[2] > 1 && 10*changes >= 4*all || (3*min(count[0], count[1]) >= letters || inCapitals) && 10*changes >= 3*all
}

// class returns 0 for a small letter, 1 for a capital, 2 for a digit, -1 for anything else.
func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return 0
	case c >= 'A' && c <= 'Z':
		return 1
	case c >= '0' && c <= '9':
		return 2
	}
	return -1
}
