package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges filters that no member of the items is named after, for PAG-07: their values must not all give the whole list.

// maxUnmatchedValues bounds the values that are tried for such a filter.
const maxUnmatchedValues = 3

// findUnmatchedFilters finds filters that no member is named after, and that have no effect. A filter fails only if some item surely does not match: the value
// is made up, or the only member whose path ends in the name of the parameter has other values. It gets a warning if the values come from the
// vocabulary, because all items may match each of them, and if the filter matches more than its value, such as all values that begin with it.
func findUnmatchedFilters(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	whole, complete := wholeList(e)
	if !known || !complete || len(whole) < 3 || e.unsteady() {
		return nil
	}
	var parts []Judgement
	for _, p := range o.QueryParameters() {
		calls := wholeAnswers(e, p, whole)
		if len(calls) < 2 || p.Description == "" || openapi.RoleOf(p) != "" || isAboutForm(p.Description) || o.SelectsOtherwise(p) && !o.SelectsMore(p) {
			continue
		}
		var values []string
		for _, x := range calls {
			values = append(values, clip(x.Given["value"]))
		}
		last, more := calls[len(calls)-1], o.SelectsMore(p)
		if more && last.Given["unmatched"] == "listed" {
			continue // a value that matches more may also match the other values
		}
		subject := Subject{Name: callInWords(last), Label: last.Label, Expected: "a part of the list"}
		reason := "the described filter " + clip(p.Name) + " has no effect: the whole list comes with " + strings.Join(values[:len(values)-1], ", with ") + " and with " + values[len(values)-1]
		var j Judgement
		switch count := evidence.Count(len(whole), "item"); {
		case contradictsAll(e, p, whole, calls), last.Given["unmatched"] == "made-up" && describesFilter(p.Description):
			j = subject.failed(reason, count)
		case last.Given["unmatched"] == "listed" && describesFilter(p.Description) && !allHave(whole, calls):
			j = subject.warned(reason, count)
		default:
			continue
		}
		if more {
			j.Outcome = Warn // the document need not say how much more matches
		}
		parts = append(parts, j.Hinting("apply the filter that the document describes; check that the bound name is the declared one").Seen(callLabels(calls)...))
	}
	return parts
}

// uselessFilter finds a filter without effect in a list whose filters name no member, so that no other call of PAG-07 was sent.
func uselessFilter(e Evidence) (Judgement, bool) {
	why, skipped := e.Skipped(e.Roles.List.With("filter-seen"))
	if !skipped || why.Kind != evidence.NotApplicable {
		return Judgement{}, false
	}
	j := gather(withoutRepeats(findUnmatchedFilters(e))...)
	return j, j.Outcome == Fail
}

// wholeAnswers returns the calls with values of a filter; nil unless each of them gave the whole list.
func wholeAnswers(e Evidence, p openapi.Parameter, whole [][]byte) (calls []evidence.Exchange) {
	ids := e.identities(whole)
	for n := range maxUnmatchedValues {
		x, sent := e.Get(e.Roles.List.With(evidence.UnmatchedCase(p.Name, n+1)))
		if !sent {
			continue
		}
		listPage := listPageOf(e, x)
		if !success(x) || !listPage.Listed || slices.ContainsFunc(itemsOrNone(e, x), e.isAnonymous) || len(listPage.Items) < 3 ||
			len(openapi.Missing(listPage.Items, ids)) > 0 || !hasLength(e, x, len(whole)) {
			return nil
		}
		calls = append(calls, x)
	}
	return calls
}

// hasLength reports whether the list of an answer has n items in all: by the items of a complete answer, and otherwise by its total.
func hasLength(e Evidence, x evidence.Exchange, n int) bool {
	listPage := listPageOf(e, x)
	if isCompleteAnswer(e, x) {
		return len(listPage.Items) == n
	}
	return listPage.Total == n
}

// contradictsAll reports whether each call has a value that some item lacks: the item has the only member whose path ends in the name of the parameter, and
// its values do not contain the value.
func contradictsAll(e Evidence, p openapi.Parameter, whole [][]byte, calls []evidence.Exchange) bool {
	member, ok := openapi.MembersOf(whole).Ending(p.Name)
	if !ok {
		return false
	}
	isComparable := slices.ContainsFunc(calls, func(x evidence.Exchange) bool { // values of a vocabulary show nothing unless items have one of them
		return x.Given["unmatched"] != "listed" || slices.ContainsFunc(whole, func(item []byte) bool { return containsFold(e.memberValues(item, member), x.Given["value"]) })
	})
	return isComparable && !slices.ContainsFunc(calls, func(x evidence.Exchange) bool {
		return !slices.ContainsFunc(whole, func(item []byte) bool {
			values := e.memberValues(item, member)
			return len(values) > 0 && !containsPart(values, x.Given["value"])
		})
	})
}

// allHave reports whether every item contains the values of all calls, in any member.
func allHave(whole [][]byte, calls []evidence.Exchange) bool {
	return !slices.ContainsFunc(whole, func(item []byte) bool {
		text := strings.ToLower(string(item))
		return slices.ContainsFunc(calls, func(x evidence.Exchange) bool { return !strings.Contains(text, strings.ToLower(x.Given["value"])) })
	})
}

// describesFilter reports whether the description of a parameter says that it selects items.
func describesFilter(text string) bool {
	return regexp.MustCompile(`(?i)\b(only|filter\w*|restrict\w*|narrow\w*|limit(s|ed)? to|nur|einschränk\w*|eingeschränkt|uniquement|seulement|soltanto|solamente)\b|` +
		`^\W*(the )?(calls?|fundings?|grants?|programmes?|records?|items?|entries|ausschreibungen|förderungen|programme|einträge)\b[^.;]{0,30}\b(of|with|in|for|that|whose|which|about|from|by|der|des|mit|für|deren|zu|aus)\b`).MatchString(text)
}

// isAboutForm reports whether the description of a parameter says that it selects the form of the answer, names the caller, adds items, needs other parameters,
// or finds similar ones.
func isAboutForm(text string) bool {
	return regexp.MustCompile(`(?i)\b(logging|applications?|analytics|monitoring|fields|attributes?|members|properties|columns|group(s|ed|ing)?|always|nationwide|regardless|applicants?|eligib\w*|only (used|relevant|needed|evaluated|effective|considered|applies|takes effect|for|if|when|in connection)|answers?|responses?|formats?|languages?|translat\w*|include (the|their|also|related|all)|also|additional(ly)?|embed\w*|expand\w*|callers?|who calls|statistics?|logged|logs?|trac(e|ing)|` +
		`ignored|no effect|reserved|deprecated|fuzzy|similar\w*|semantic\w*|relevan\w*|rank\w*|boost\w*|prefer\w*|highlight\w*|at least|or (higher|more|above|below|lower|less)|together with|combin\w*|shown in|converted)\b|` +
		`\b(felder\w*|attribute\w*|spalten|champs|colonnes|campi|r\x{e9}ponse|langues?|lingua|immer|stets|bundesweit\w*|gruppier\w*|protokoll\w*|antragsberechtigt\w*|nur (wirksam|relevant|verwendet|ausgewertet|wenn|falls|in verbindung)|antwort\w*|sprachen?|übersetz\w*|auch|zusätzlich\w*|aufrufer\w*|ignoriert|wirkungslos|ohne wirkung|ähnlich\w*|bevorzug\w*|mindestens|zusammen mit|kombin\w*)\b`).MatchString(text)
}

// findWrongDefaults finds parameters whose documented default is not the real one, for PAG-07: the complete list without the parameter has other items than with the
// default. "The default value represents what would be assumed by the consumer of the input as the value of the schema if one is not provided" (OAS 3.0.3, Schema
// Object).
func findWrongDefaults(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	whole, complete := wholeList(e)
	if !known || !complete || len(whole) < 2 || e.unsteady() {
		return nil
	}
	contradicts := regexp.MustCompile(`(?i)\b(without|omitted|absent|missing|unset|not (given|sent|set)|left out|if none|ohne|fehlt|weggelassen|nicht (angegeben|gesetzt))\b`)
	var parts []Judgement
	for _, p := range o.QueryParameters() {
		x, sent := e.Get(e.Roles.List.With(evidence.DefaultCase(p.Name)))
		if !sent || !success(x) || !isCompleteAnswer(e, x) || contradicts.MatchString(p.Description) || someAnonymous(e, []evidence.Exchange{x}) {
			continue
		}
		ids := listPageOf(e, x).Items
		lost, more := withoutRemoved(e, openapi.Missing(e.identities(whole), ids)), openapi.Missing(ids, e.identities(whole))
		if len(lost) == 0 && len(more) == 0 {
			continue
		}
		j := expect(x, "the list without "+clip(p.Name)+": "+evidence.Count(len(whole), "item")).
			failed("the document says that the default of "+clip(p.Name)+" is "+clip(x.Given["value"])+", and the list without the parameter is another one", evidence.Count(len(ids), "item")).
			Hinting("describe the default that the node assumes, or assume the described one (OAS 3.0.3 Schema Object, default)").Seen(e.Roles.List.With(evidence.OK))
		if len(lost)+len(more) == 1 {
			j.Outcome = Warn // one record may have been published or removed meanwhile
		}
		parts = append(parts, j)
	}
	return parts
}
