package recording

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// Redactor replaces mail addresses, names of persons, telephone numbers and tokens by made-up values. Equal values get equal made-up values, in all
// recordings with the same key. An answer that fits the document fits it afterwards, too.
type Redactor struct {
	pseudonyms
	nameForms
	// givenNames, familyNames and lastWords have the fingerprints of the names that were found, to replace them in texts. A last word of a full name
	// may be a common word, so it is replaced only beside another part of a name.
	givenNames, familyNames, lastWords map[string]bool
	// recordNames has the fingerprints of the first names in the record that is being redacted.
	recordNames map[string]bool
	// fixed reports that the redactor learns no further names: it was read from a recording, and must redact like it.
	fixed                            bool
	secrets                          []string
	fingerprints                     map[string]string // of words in lower case
	mails, tokens, parameters, orcid *regexp.Regexp
}

// keyBytes is the length of a key.
const keyBytes = 32

// NewKey makes a random key.
func NewKey(random io.Reader) ([]byte, error) {
	key := make([]byte, keyBytes)
	_, err := io.ReadFull(random, key)
	return key, err
}

// NewRedactor makes a redactor with a key. secrets are texts that must not be in a recording, such as the secret of the client.
func NewRedactor(key []byte, secrets ...string) *Redactor {
	r := &Redactor{
		pseudonyms: pseudonyms{key}, nameForms: newNameForms(), givenNames: map[string]bool{}, familyNames: map[string]bool{}, lastWords: map[string]bool{}, fingerprints: map[string]string{},
		mails: regexp.MustCompile(`[\p{L}\p{N}._%+'-]+(@|%40)[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+`),
		tokens: regexp.MustCompile(`eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(\.[A-Za-z0-9_-]*)*|\b[Bb]earer +[A-Za-z0-9._~+/-]{8,}=*|\bgh[pousr]_[A-Za-z0-9]{16,}|` +
			`\bxox[a-z]-[A-Za-z0-9-]{8,}|\bAKIA[0-9A-Z]{12,}|\bsk-[A-Za-z0-9_-]{16,}|\bglpat-[A-Za-z0-9_-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?`),
		parameters: regexp.MustCompile(`(?i)([?&;](?:access_token|token|api_?key|secret|client_secret|password|sig|signature)=|://)([^&\s"'<>@/]+)(@)?`),
		orcid:      regexp.MustCompile(`\b\d{4}-\d{4}-\d{4}-\d{3}[\dX]\b`),
	}
	for _, s := range secrets {
		if len(s) >= 4 {
			r.secrets = append(r.secrets, s)
			if escaped := url.QueryEscape(s); escaped != s {
				r.secrets = append(r.secrets, escaped)
			}
		}
	}
	return r
}

// AddSecret adds a text that must not be in the recording.
func (r *Redactor) AddSecret(text string) {
	if len(text) >= 4 && !slices.Contains(r.secrets, text) {
		r.secrets = append(r.secrets, text)
	}
}

// redactionState is the content of redaction.json.
type redactionState struct {
	Schema string   `json:"schema"`
	Key    string   `json:"key"`
	Given  []string `json:"given"`
	Family []string `json:"family"`
	Last   []string `json:"last"`
}

const redactionSchema = "rin.redaction/v1"

func (r *Redactor) state() redactionState {
	return redactionState{redactionSchema, hex.EncodeToString(r.key), slices.Sorted(maps.Keys(r.givenNames)), slices.Sorted(maps.Keys(r.familyNames)), slices.Sorted(maps.Keys(r.lastWords))}
}

// OpenRedactor reads the redactor with which the recording of a folder was made. The error is a [*Damage].
func OpenRedactor(folder string) (*Redactor, error) {
	text, err := readFile(folder, redactionFile, maxManifest)
	if err != nil {
		return nil, &Damage{folder + "/" + redactionFile, err, "without the key of its made-up values a redacted recording cannot be compared; record the node again"}
	}
	var s redactionState
	err = json.Unmarshal(text, &s)
	if err == nil && s.Schema != redactionSchema {
		err = fmt.Errorf("expected the schema %s, got %.40q", redactionSchema, s.Schema)
	}
	key, keyErr := hex.DecodeString(s.Key)
	if err == nil && (keyErr != nil || len(key) != keyBytes) {
		err = fmt.Errorf("expected a key of %d hexadecimal digits", 2*keyBytes)
	}
	if err != nil {
		return nil, &Damage{folder + "/" + redactionFile, err, "record the node again"}
	}
	r := NewRedactor(key)
	r.fixed = true
	for _, f := range s.Given {
		r.givenNames[f] = true
	}
	for _, f := range s.Family {
		r.familyNames[f] = true
	}
	for _, f := range s.Last {
		r.lastWords[f] = true
	}
	return r, nil
}

// Redact replaces personal and secret values in a recording.
func (r *Redactor) Redact(recording *Recording) error {
	all, err := readOperations(recording.Document)
	if err != nil {
		return err
	}
	byName := map[string]mockapi.ReadOperation{}
	for _, op := range all {
		byName[op.Operation] = op
	}
	if !r.fixed {
		for _, o := range recording.Operations {
			r.learnFrom(o)
		}
	}
	ids := map[string]map[string]string{} // the made-up ids of each list, by the path of the list
	for _, o := range recording.Operations {
		op, known := byName[o.Name]
		if !known {
			return fmt.Errorf("the document has no operation %s", o.Name)
		}
		var detail mockapi.ReadOperation
		for _, other := range all {
			if list, ok := other.ListAbove(len(other.Segments()) - 1); ok && other.IsDetail() && list.Operation == o.Name {
				detail = other
			}
		}
		if err := r.operation(recording, o, op, detail, ids); err != nil {
			return err
		}
	}
	recording.Redacted = true
	for name, value := range recording.Values {
		recording.Values[name] = r.text(value, r.token)
	}
	for i := range recording.Notes {
		recording.Notes[i].Text = r.text(recording.Notes[i].Text, r.token)
	}
	return nil
}

// operation replaces personal values in the answers of an operation.
func (r *Redactor) operation(recording *Recording, recorded *Operation, op, detail mockapi.ReadOperation, ids map[string]map[string]string) error {
	root := lastStaticSegment(op)
	recorded.FirstInvalid = r.text(recorded.FirstInvalid, r.token)
	lists, answers := map[string]*mockapi.RecordedList{}, map[string]any{}
	for _, key := range sortedKeys(recorded.Lists) {
		l := recorded.Lists[key]
		ids[key] = map[string]string{}
		items := l.Items[:0:0]
		for _, item := range l.Items {
			before := op.ID(item.Value)
			r.learnRecordNames(root, item.Value, item.Detail)
			value, ok := r.value(root, item.Value, op.CheckItem)
			if ok && item.Detail != nil {
				check := op.CheckItem
				if detail.Path != "" {
					check = detail.Check
				}
				if item.Detail, ok = r.value(root, item.Detail, check); !ok {
					ok, item.Detail = true, nil
					recording.note(recorded.Name, "the detail of a record was left out: no made-up values fit the document, or it is not text (--keep)")
				}
			}
			if !ok {
				recording.note(recorded.Name, "a record was left out: no made-up values fit the document")
				continue
			}
			item.Value = value
			ids[key][before] = op.ID(value)
			items = append(items, item)
		}
		l.Items = items
		r.learnRecordNames("", l.Rest)
		if rest, ok := r.value("", any(l.Rest), nil); ok && l.Rest != nil {
			l.Rest, _ = rest.(map[string]any)
		}
		lists[r.path(op, key, ids)] = l
	}
	for _, key := range sortedKeys(recorded.Answers) {
		r.learnRecordNames(root, recorded.Answers[key])
		value, ok := r.value(root, recorded.Answers[key], op.Check)
		if !ok {
			recording.note(recorded.Name, "an answer was left out: no made-up values fit the document, or it is not text (--keep)")
			continue
		}
		answers[r.path(op, key, ids)] = value
	}
	headers := map[string]http.Header{}
	r.recordNames = nil
	for _, key := range sortedKeys(recorded.Headers) {
		redacted := http.Header{}
		for name, values := range recorded.Headers[key] {
			for _, value := range values {
				redacted.Add(name, r.text(value, r.token))
			}
		}
		headers[r.path(op, key, ids)] = redacted
	}
	recorded.Lists, recorded.Answers, recorded.Headers = lists, answers, headers
	return nil
}

// lastStaticSegment returns the last segment of a path that is not a parameter: the kind of the records.
func lastStaticSegment(op mockapi.ReadOperation) string {
	for _, segment := range slices.Backward(op.Segments()) {
		if !strings.Contains(segment, "{") {
			return segment
		}
	}
	return ""
}

// path returns a recorded path with made-up ids.
func (r *Redactor) path(op mockapi.ReadOperation, key string, ids map[string]map[string]string) string {
	template, segments := op.Segments(), strings.Split(strings.Trim(key, "/"), "/")
	redacted := make([]string, len(segments))
	for i := range segments {
		before, err := url.PathUnescape(segments[i])
		if err != nil {
			before = segments[i]
		}
		redacted[i] = before
		if i >= len(template) || !strings.Contains(template[i], "{") {
			continue
		}
		above := "/" + strings.Join(segments[:i], "/")
		if id, ok := ids[above][before]; ok && id != "" {
			redacted[i] = id
		} else {
			redacted[i] = r.text(before, r.token)
		}
	}
	return mockapi.RecordedPath(redacted)
}

// learnFrom learns the names of persons in an operation's answers.
func (r *Redactor) learnFrom(o *Operation) {
	root := strings.TrimPrefix(o.Name, "GET ")
	for segment := range strings.SplitSeq(root, "/") {
		if segment != "" && !strings.Contains(segment, "{") {
			root = segment
		}
	}
	visit := r.collect(r.givenNames, r.familyNames, r.lastWords)
	for _, l := range o.Lists {
		for _, item := range l.Items {
			r.eachText(root, item.Value, visit)
			r.eachText(root, item.Detail, visit)
		}
		r.eachText("", any(l.Rest), visit)
	}
	for _, answer := range o.Answers {
		r.eachText(root, answer, visit)
	}
}

// collect returns a function that adds the names in texts to sets.
func (r *Redactor) collect(givenNames, familyNames, lastWords map[string]bool) func(kind, string) {
	return func(k kind, text string) {
		switch {
		case k == givenName:
			r.learn(givenNames, r.nameForms.words(text))
		case k == familyName:
			r.learn(familyNames, r.nameForms.words(text))
		case k == fullName && r.looksLikePerson(text):
			if first, last := r.split(text); len(first) > 0 {
				r.learn(givenNames, first)
				r.learn(lastWords, last)
			}
		}
	}
}

// learnRecordNames learns the first names of the persons that a record names. In the texts of this record they are replaced even without a last name.
func (r *Redactor) learnRecordNames(member string, record ...any) {
	r.recordNames = map[string]bool{}
	visit := r.collect(r.recordNames, map[string]bool{}, map[string]bool{})
	for _, value := range record {
		r.eachText(member, value, visit)
	}
}

// learn adds the fingerprints of words to a set. Very short words are left out.
func (r *Redactor) learn(set map[string]bool, words []string) {
	for _, w := range words {
		if len([]rune(w)) >= 2 {
			set[r.fingerprint(strings.ToLower(w))] = true
		}
	}
}

// eachText visits the texts of a value, with their kinds.
func (r *Redactor) eachText(member string, value any, visit func(kind, string)) {
	r.walk("", member, plain, value, func(_ string, k kind, text string) { visit(k, text) })
}

// walk visits the texts of a value with their pointers and kinds. member is the name of the member that has the value; inherited is the kind of
// an object or array around it, such as a name in several languages.
func (r *Redactor) walk(pointer, member string, inherited kind, value any, visit func(pointer string, k kind, text string)) {
	switch v := value.(type) {
	case map[string]any:
		person := isPerson(member) || describesPerson(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			k := kindOf(name, person)
			if k == plain && inherited != plain && canonical(name) != "lang" && canonical(name) != "language" {
				k = inherited
			}
			r.walk(sample.Join(pointer, name), name, k, v[name], visit)
		}
	case []any:
		for i, inner := range v {
			r.walk(sample.Join(pointer, fmt.Sprint(i)), member, inherited, inner, visit)
		}
	case string:
		if inherited == plain && isPerson(member) && r.looksLikePerson(v) && len(r.nameForms.words(v)) > 1 {
			inherited = fullName
		}
		visit(pointer, inherited, v)
	}
}

// ReadKey reads a key: the hexadecimal digits, or the text of a redaction.json.
func ReadKey(text []byte) ([]byte, error) {
	var s redactionState
	if json.Unmarshal(text, &s) != nil {
		s.Key = strings.TrimSpace(string(text))
	}
	key, err := hex.DecodeString(s.Key)
	if err != nil || len(key) != keyBytes {
		return nil, errors.New("expected the redaction.json of a recording, or a key of 64 hexadecimal digits")
	}
	return key, nil
}
