package fault

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/fixtures/model"
)

// parameterDeviations break the handling of parameter values at and beyond their described bounds, and the description of parameters and headers.
func parameterDeviations() []Deviation {
	return []Deviation{
		{Name: "longest-value-crashes", Breaks: []string{"API-01"},
			Why:  "A funderId of the described maximum length fails with 500: the column is one character shorter.",
			Wrap: rewrite(whenRequest(func(r *http.Request) bool { return funderLength(r) == maxFunderLength }, crash), List)},
		{Name: "boolean-false-crashes", Breaks: []string{"API-01"},
			Why: "A described boolean of the detail fails with 500 when it is false; the portal only ever sends true.",
			Wrap: withParameter("query", "annotated", schema{"type": "boolean"},
				func(value string) bool { return value == "false" }, crash)},
		{Name: "described-value-refused", Breaks: []string{"API-01", "API-02"},
			Why: "The detail describes a list of languages and refuses the last of them with 422, which is not described.",
			Wrap: withParameter("query", "lang", languages(), isEnglish,
				become(http.StatusUnprocessableEntity, "application/problem+json", `{"type":"about:blank","title":"Unprocessable Content","status":422}`))},
		{Name: "described-header-crashes", Breaks: []string{"API-01"},
			Why:  "A described header field of the detail fails with 500 for one of its values.",
			Wrap: withParameter("header", "X-Language", languages(), isEnglish, crash)},
		{Name: "minimum-crashes", Breaks: []string{"API-01"},
			Why:  "A described number of the detail fails with 500 at its minimum, which is used as a divisor.",
			Wrap: withParameter("query", "depth", depth(), func(value string) bool { return value == "0" }, crash)},
		{Name: "overlong-value-crashes", Breaks: []string{"PAG-06"},
			Why:  "A funderId one character longer than described fails with 500: only the database refuses it.",
			Wrap: rewrite(when(isFunderRefusal, crash), List)},
		{Name: "unknown-language-crashes", Breaks: []string{"PAG-06"},
			Why: "A described language of the detail outside its vocabulary fails with 500: the enum of the code throws.",
			Wrap: withParameter("query", "lang", languages(),
				func(value string) bool { return value != "de" && value != "en" }, crash)},
		{Name: "vast-page-crashes", Breaks: []string{"PAG-06"},
			Why:  "A page number beyond 64 bits fails with 500: it is larger than an integer of the database.",
			Wrap: crashIf(func(r *http.Request) bool { return len(r.URL.Query().Get("page[page]")) > 19 }, List)},
		{Name: "page-offset-crashes", Breaks: []string{"PAG-06"},
			Why: "The largest page number of 64 bits fails with 500: the number times the size does not fit an integer.",
			Wrap: crashIf(func(r *http.Request) bool {
				page, err := strconv.ParseInt(r.URL.Query().Get("page[page]"), 10, 64)
				return err == nil && page > math.MaxInt64/50
			}, List)},
		{Name: "beyond-maximum-crashes", Breaks: []string{"PAG-06"},
			Why: "A described number of the detail fails with 500 above its maximum.",
			Wrap: withParameter("query", "depth", depth(), func(value string) bool {
				n, err := strconv.Atoi(value)
				return err == nil && n > 3
			}, crash)},
		{Name: "word-for-number-crashes", Breaks: []string{"PAG-06"},
			Why: "A word instead of a described number of the detail fails with 500: the error of the parser is not handled.",
			Wrap: withParameter("query", "depth", schema{"type": "integer"}, func(value string) bool {
				_, err := strconv.Atoi(value)
				return err != nil
			}, crash)},
		{Name: "required-parameter-crashes", Breaks: []string{"PAG-06"},
			Why: "The detail without a described, required parameter fails with 500: the code assumes that it is there.",
			Wrap: both(
				editDocument(addParameter(map[string]any{
					"name": "view", "in": "query", "required": true, "schema": schema{"type": "string", "enum": []any{"full", "short"}},
				})),
				rewriteSuccess(whenRequest(func(r *http.Request) bool { return !r.URL.Query().Has("view") }, crash), Detail))},
		{Name: "expanded-funder-with-internal-members", Breaks: []string{"API-05"},
			Why:  "The described parameter expand of the detail shows members of the funder that its closed schema does not allow, such as a bank account: all columns are selected.",
			Wrap: expandFunder(map[string]any{"id": "F-1", "country": "AT", "billingAccount": "AT61 1904 3002 3457 3201"})},
		{Name: "cursor-of-text-crashes", Breaks: []string{"API-01"}, Rare: true,
			Why:  "A described cursor that decodes to a text, and not to JSON, fails with 500: only the error of the base64 decoder is handled.",
			Wrap: both(editDocument(describeCursor), rewriteSuccess(whenRequest(decodesToText, crash), List))},
		{Name: "odd-fields-crash", Breaks: []string{"PAG-06"}, Rare: true,
			Why: "A described parameter that is repeated, sent as a list or with broken bytes, and an incomplete escape, fail with 500: the code expects one text for each name.",
			Example: func(good *http.Request) {
				good.URL.Path = strings.Replace(good.URL.Path, "/info/v1/oauth/info/", "/funding/v3/fundings", 1)
				good.URL.RawQuery = "funderId=a&funderId=b"
			},
			Wrap: crashIf(func(r *http.Request) bool { return !isAnonymous(r) && hasOddFields(r.URL.RawQuery) }, List, Detail)},
		{Name: "required-header-missing", Breaks: []string{"API-02"},
			Why:  "The document requires X-Total-Count of the list, and the proxy drops it.",
			Wrap: editDocument(requireCount)},
		{Name: "header-of-another-type", Breaks: []string{"API-02"},
			Why:  "X-Total-Count of the list is described as a number and sent as \"10 fundings\".",
			Wrap: both(editDocument(requireCount), rewriteSuccess(setHeader("X-Total-Count", "10 fundings"), List))},
		{Name: "bad-value-answered-in-another-shape", Breaks: []string{"API-03"},
			Why: "A funderId that is too long is answered 200 with a message instead of the described list.",
			Wrap: rewrite(when(isFunderRefusal, inOrder(
				setStatus(http.StatusOK), replaceBody("application/json", `{"message":"nothing found"}`))), List)},
	}
}

// parameterHabits add described parameters to the detail, with correct answers.
func parameterHabits() []Deviation {
	return []Deviation{
		{Name: "funder-expanded",
			Why:  "The described parameter expand of the detail adds a member with more about the funder.",
			Wrap: expandFunder(map[string]any{"id": "F-1", "country": "AT"})},
	}
}

// expandFunder makes a wrap that describes the parameter expand of the detail. With expand=funder, the detail has the member funderDetails with these details.
// The schema of funderDetails allows only the members id and country.
func expandFunder(details map[string]any) wrap {
	return both(
		editDocument(func(d apiDocument) {
			detailsSchema := schema{"type": "object", "additionalProperties": false, "required": []any{"id"}, "properties": map[string]any{
				"id": schema{"type": "string"}, "country": schema{"type": "string"}}}
			for _, described := range member(d.detail(), "responses", "200", "content") {
				if media, ok := described.(map[string]any); ok {
					media["schema"] = schema{"allOf": []any{media["schema"], schema{"type": "object", "properties": map[string]any{"funderDetails": detailsSchema}}}}
				}
			}
		}),
		withParameter("query", "expand", schema{"type": "string", "enum": []any{"funder"}},
			func(value string) bool { return value == "funder" }, edit(put("funderDetails", details))))
}

// maxFunderLength is the described maximum length of a funderId.
const maxFunderLength = 200

func funderLength(r *http.Request) int { return utf8.RuneCountInString(r.URL.Query().Get("funderId")) }

// isFunderRefusal holds for refusals of a funderId that is too long.
func isFunderRefusal(a *answer) bool {
	return a.Status == http.StatusBadRequest && funderLength(a.request) > maxFunderLength
}

// schema is a JSON Schema.
type schema = map[string]any

func languages() schema { return schema{"type": "string", "enum": []any{"de", "en"}} }

func isEnglish(value string) bool { return value == "en" }

func depth() schema { return schema{"type": "integer", "minimum": 0, "maximum": 3} }

// withParameter makes a wrap that adds a parameter of the detail to the document, in the query or the header, and changes successful answers to requests
// whose value fits.
func withParameter(in, name string, s schema, fits func(value string) bool, alter change) wrap {
	return both(
		editDocument(addParameter(map[string]any{"name": name, "in": in, "schema": s})),
		rewriteSuccess(whenRequest(func(r *http.Request) bool {
			values := r.URL.Query()[name]
			if in == "header" {
				values = r.Header.Values(name)
			}
			return slices.ContainsFunc(values, func(value string) bool { return fits(strings.TrimSpace(value)) })
		}, alter), Detail))
}

// addParameter makes an edit that adds a parameter of the detail to the document.
func addParameter(parameter map[string]any) func(d apiDocument) {
	return func(d apiDocument) {
		detail := d.detail()
		parameters, _ := detail["parameters"].([]any)
		detail["parameters"] = append(slices.Clone(parameters), any(parameter))
	}
}

// hasOddFields reports whether a query has an incomplete escape, or a parameter of the list twice, as a list (name[]), or with bytes that are not UTF-8.
func hasOddFields(query string) bool {
	fields, err := url.ParseQuery(query)
	return err != nil || slices.ContainsFunc([]string{"page[page]", "page[size]", "fundingType", "funderId", "runningCalls", "targetGroup", "region", "applicantsScope"}, func(name string) bool {
		return len(fields[name]) > 1 || fields.Has(name+"[]") || fields.Has(name+"[0]") || !utf8.ValidString(fields.Get(name))
	})
}

// describeCursor adds the parameter cursor of the list to the document.
func describeCursor(d apiDocument) {
	list := d.list()
	parameters, _ := list["parameters"].([]any)
	list["parameters"] = append(slices.Clone(parameters), any(map[string]any{"name": "cursor", "in": "query", "schema": schema{"type": "string"}}))
}

// decodesToText holds for requests whose cursor is base64url of a text that is not JSON.
func decodesToText(r *http.Request) bool {
	text, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("cursor"))
	return err == nil && len(text) > 0 && utf8.Valid(text) && !json.Valid(text)
}

// requireCount describes X-Total-Count as a required header field of the list.
func requireCount(d apiDocument) {
	member(d.list(), "responses", "200")["headers"] = map[string]any{"X-Total-Count": map[string]any{
		"required": true, "description": "The number of all fundings.", "schema": schema{"type": "integer"},
	}}
}

// queryDeviations break the decoding of query parameters, and the answers to bad values.
func queryDeviations() []Deviation {
	return []Deviation{
		{
			// PAG-02 breaks because the size of a page is not limited if the brackets are encoded.
			Name: "only-raw-brackets", Breaks: []string{"PAG-02", "PAG-05"},
			Why:  "Parameters with brackets are understood only if the brackets are not encoded: the query is searched as text.",
			Wrap: dropParts(func(part string) bool { return strings.HasPrefix(part, "page%5B") })},
		{Name: "raw-brackets-ignored", Breaks: []string{"PAG-05"},
			Why:  "Parameters with raw brackets are dropped by a gateway that cleans queries.",
			Wrap: dropParts(func(part string) bool { return strings.Contains(part, "[") })},
		{Name: "size-text-crashes", Breaks: []string{"PAG-06"},
			Why:  "A page size that is not a number fails with 500: the error of the conversion is not handled.",
			Wrap: crashIf(func(r *http.Request) bool { return !isAnonymous(r) && isWord(r.URL.Query().Get("page[size]")) }, List)},
		{Name: "size-overflows", Breaks: []string{"PAG-06"},
			Why:  "A page size beyond 32 bits fails with 500.",
			Wrap: crashIf(func(r *http.Request) bool { return !isAnonymous(r) && len(r.URL.Query().Get("page[size]")) > 10 }, List)},
		{Name: "negative-page-crashes", Breaks: []string{"PAG-06"},
			Why:  "A negative page reaches the query of the database, which refuses it: 500.",
			Wrap: crashOnQuery("page%5D=-")},
		{Name: "unknown-parameter-crashes", Breaks: []string{"PAG-06"}, May: []string{"ROB-04"},
			Why:  "An unknown parameter with a number fails with 500: it is compared with a column of that name.",
			Wrap: rewrite(when(func(a *answer) bool { return !isAnonymous(a.request) && hasUnknownNumber(a) }, crash), List)},
		{Name: "unknown-vocabulary-ignored", Breaks: []string{"PAG-06"},
			Why:  "A filter value that is not in the vocabulary is ignored, and the complete list comes back.",
			Wrap: editQuery(dropUnknownValues)},
	}
}

// hasUnknownNumber holds for answers to requests with a number in a parameter that the document does not name.
func hasUnknownNumber(a *answer) bool {
	query := a.request.URL.Query()
	return hasUnknownParameter(a) && slices.ContainsFunc(slices.Collect(maps.Values(query)), func(values []string) bool {
		_, err := strconv.Atoi(values[0])
		return err == nil && len(values) == 1
	})
}

// isWord reports whether a text begins with a letter.
func isWord(text string) bool {
	return text != "" && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
}

// dropUnknownValues removes the filter by type if its value is not in the vocabulary.
func dropUnknownValues(q url.Values) {
	if value := q.Get("fundingType"); value != "" && !slices.Contains([]model.FundingType{
		model.TypeProgramme, model.TypeCall, model.TypeOngoingCall, model.TypeResearchContract, model.TypeAward, model.TypeGrant, model.TypeScholarship,
	}, model.FundingType(value)) {
		q.Del("fundingType")
	}
}

// dropParts makes a wrap that removes parts from the query of list requests. A part is a parameter with its value, not decoded.
func dropParts(drop func(part string) bool) wrap {
	return replaceRequest(func(r *http.Request, _ Env) *http.Request {
		changed := r.Clone(r.Context())
		changed.URL.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(r.URL.RawQuery, "&"), drop), "&")
		return changed
	}, List)
}

// crashOnQuery makes a wrap that answers 500 to list requests with credentials whose query contains the text before decoding.
func crashOnQuery(text string) wrap {
	return rewrite(whenRequest(func(r *http.Request) bool {
		return strings.Contains(r.URL.RawQuery, text) && !isAnonymous(r)
	}, crash), List)
}

// promiseDeviations accept what their documents promise to refuse. If the document does not promise it, the same behaviour is a habit.
func promiseDeviations() []Deviation {
	return []Deviation{
		{Name: "promised-refusal-is-an-empty-list", Breaks: []string{"PAG-06"},
			Why:  "The document says that other types are answered with 400; a type that does not exist gives an empty list, because it is only compared with the database.",
			Wrap: both(describeParameter("fundingType", "Only fundings of this type. Other values are answered with 400."), emptyForUnknownType())},
		{Name: "promised-refusal-is-the-whole-list", Breaks: []string{"PAG-06"},
			Why: "The document says of all parameters that wrong values are answered with 400; a type that does not exist is ignored.",
			Wrap: both(editDocument(func(d apiDocument) {
				d.list()["description"] = text(d.list()["description"]) + " A parameter with a wrong value is answered with 400."
			}), editQuery(dropUnknownValues))},
		{Name: "bad-cursor-starts-again", Breaks: []string{"PAG-06"},
			Why: "The document says that other cursors are refused with 400; a cursor that cannot be read counts as absent, and the list starts again.",
			Wrap: both(describeParameter("cursor", "Where the page begins, from nextCursor. Any other value is refused with 400."),
				both(dropBadCursors(), paginateByCursor(nextRecord)))},
	}
}

// promiseHabits accept the same values, and their documents do not promise to refuse them.
func promiseHabits() []Deviation {
	return []Deviation{
		{Name: "unknown-type-finds-nothing",
			Why:  "A type that does not exist gives an empty list, as from a query of a database; the document does not say that it is refused.",
			Wrap: emptyForUnknownType()},
		{Name: "bad-cursor-is-none",
			Why:  "A cursor that cannot be read counts as absent; the document does not say that it is refused.",
			Wrap: both(dropBadCursors(), paginateByCursor(nextRecord))},
	}
}

// describeParameter makes a wrap that replaces the description of a parameter of the list.
func describeParameter(name, description string) wrap {
	return editDocument(func(d apiDocument) {
		for _, parameter := range objects(d.list(), "parameters") {
			if parameter["name"] == name {
				parameter["description"] = description
			}
		}
	})
}

// emptyForUnknownType makes a wrap that answers an unknown type with an empty list.
func emptyForUnknownType() wrap {
	return interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		known := withQuery(r, dropUnknownValues)
		if known.URL.Query().Get("fundingType") == r.URL.Query().Get("fundingType") {
			node.ServeHTTP(w, r)
			return
		}
		a := capture(node, known)
		a.env = env
		if a.ok() {
			a.keep(func(map[string]any) bool { return false })
			emptyList(a)
			a.set("Link", "")
		}
		a.send(w, r)
	}, List)
}

// dropBadCursors makes a wrap that removes cursors that [paginateByCursor] did not issue.
func dropBadCursors() wrap {
	return editQuery(func(q url.Values) {
		if q.Has("cursor") {
			if _, _, ok := cursorOf(url.Values{"cursor": {q.Get("cursor")}}); !ok {
				q.Del("cursor")
			}
		}
	})
}
