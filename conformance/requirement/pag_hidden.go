package requirement

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges records that no list holds, for PAG-09: the node must not serve a hidden record by its id, or anything below a record that does not
// exist.

// gapIDs bounds the requested ids whose numbers are missing between those of listed ids. namedIDs bounds the requested ids that other records name.
const gapIDs, namedIDs = 4, 2

// findHiddenRecords finds records that the complete list lacks, and that, as the document or the record itself says, are not for clients.
func findHiddenRecords(e Evidence) []Judgement {
	allItems, complete := wholeList(e)
	o, known := operation(e, e.Roles.Detail)
	list, _ := operation(e, e.Roles.List)
	if !complete || !known || e.unsteady() {
		return nil
	}
	listed := e.identities(allItems)
	served := e.Spec.ServedUnlisted(o)
	promised := len(served) == 0 && (hidesRecords(e, o) || hidesRecords(e, list))
	var parts []Judgement
	var cases []evidence.Case
	for n := range gapIDs {
		cases = append(cases, evidence.GapIDCase(n+1))
	}
	for n := range namedIDs {
		cases = append(cases, evidence.NamedIDCase(n+1))
	}
	for _, c := range cases {
		x, sent := e.Get(e.Roles.Detail.With(c))
		id := x.Given["asked"]
		if !sent || !success(x) || len(x.Redirects) > 0 || slices.Contains(listed, id) {
			continue
		}
		text, err := e.jsonText(x)
		if err != nil {
			continue // API-03 judges the answer
		}
		record := unwrap(text, memberOfID(x))
		if got := openapi.MemberValues(record, memberOfID(x)); len(got) != 1 || got[0] != id || listedAgain(e, id) {
			continue
		}
		want := expect(x, "404")
		switch why := hidingMember(record, allItems, answeredAt(x)); {
		case why != "" && isServed(served, why):
			// the document promises this
		case why != "":
			parts = append(parts, want.failed("a record that no list holds is served by its id: "+why, "the record of "+quote(id)).Hinting(hiddenHint))
		case promised && !hasOtherState(record, allItems):
			parts = append(parts, want.failed("a record that no list holds is served by its id, and the document says that hidden records are not served", "the record of "+quote(id)).Hinting(hiddenHint))
		}
	}
	return parts
}

// isServed reports whether one of the kinds of records that the detail serves beyond the list is that of a record with this [hidingMember].
func isServed(kinds []string, why string) bool {
	signs := map[string]string{"draft": `draft|entwurf`, "deleted": `deleted|gelöscht|geloescht`, "hidden": `hidden|visib|sichtbar`, "internal": `intern`, "embargo": `embargo|release|available|visible`,
		"published": `publi|veröffentlicht|veroeffentlicht|öffentlich|oeffentlich|release|visible|sichtbar|available`}
	return slices.ContainsFunc(kinds, func(kind string) bool { return regexp.MustCompile(`(?i)` + signs[kind]).MatchString(why) })
}

const hiddenHint = "apply the condition of the list to the detail as well, and to the paths below it: put the condition where records are read, not where they are listed (OWASP API1)"

// listedAgain reports whether a later reading of the list has the record.
func listedAgain(e Evidence, id string) bool {
	again, _ := readingOf(e, "whole-again")
	return slices.Contains(again.Items(), id)
}

// hidesRecords reports whether the document says of the operation, or of the whole API, that clients do not find some records. It returns
// false if the document says that records which have left the list can still be found by id.
func hidesRecords(e Evidence, o openapi.Operation) bool {
	const kinds = `\b(drafts?|embargo(ed)?|unpublished|(not|never) (yet )?(been |be )?published|before (it is|they are|their|its) publi\w+|hidden|internal (calls?|records?)|entw(urf|ürfen?)|unveröffentlicht\w*|(noch )?nicht veröffentlicht\w*)\b`
	const absent = `(\b404\b|\bnot (there|found|listed|shown|served|returned|available|visible|readable|exist|part of)|\bnever (be )?(shown|listed|served|returned|visible|delivered)|\b(in )?no list\b|\bneither\b|\bdo(es)? not exist|\bnicht (teil|in der liste|enthalten|sichtbar|abrufbar|auffindbar|gefunden)\b)`
	hides := regexp.MustCompile(`(?i)` + kinds + `[^.]{0,160}` + absent)
	stays := regexp.MustCompile(`(?i)\b(archived?|closed|past|expired|ended|withdrawn|old|former)\b[^.]{0,80}\b(by (its|their|the) id|still (there|found|served|available)|remain)|\b(archivierte|abgelaufene|beendete|frühere|alte)\w*\b[^.]{0,80}\b(weiterhin|noch|bleiben)\b`)
	return (e.Spec.Says(o, hides) || e.Spec.SaysOfAll(hides)) && !e.Spec.Says(o, stays) && !e.Spec.SaysOfAll(stays)
}

// hidingMember returns the member that says that a record is not for clients, or "". A value that listed records also have does not count.
func hidingMember(record []byte, listed [][]byte, now time.Time) string {
	anyListed := func(name, value string) bool {
		return slices.ContainsFunc(listed, func(item []byte) bool { return containsFold(openapi.MemberValues(item, name), value) })
	}
	members := openapi.Object(record)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text := strings.Join(openapi.MemberValues(record, name), "")
		joined, lower := openapi.Joined(name), strings.ToLower(text)
		flag := string(members[name])
		switch {
		case slices.Contains([]string{"status", "state", "visibility", "publicationstatus", "publicationstate", "workflowstate", "access", "stand", "zustand", "sichtbarkeit"}, joined) &&
			slices.Contains([]string{"draft", "unpublished", "embargoed", "embargo", "hidden", "internal", "private", "deleted", "in_review", "review", "entwurf", "unveröffentlicht", "intern", "gesperrt"}, lower) && !anyListed(name, text),
			slices.Contains([]string{"published", "ispublished", "public", "ispublic", "visible", "isvisible", "veröffentlicht", "veroeffentlicht", "öffentlich", "oeffentlich", "sichtbar"}, joined) && flag == "false" && !anyListed(name, "false"),
			slices.Contains([]string{"draft", "isdraft", "hidden", "ishidden", "internal", "deleted", "isdeleted", "embargoed", "isembargoed", "entwurf", "intern", "gelöscht", "geloescht"}, joined) && flag == "true" && !anyListed(name, "true"):
			return clip(name + " is " + text)
		case slices.Contains([]string{"publishedat", "publishedon", "publicationdate", "publishdate", "publishat", "releasedate", "releaseat", "visiblefrom", "availablefrom", "embargountil", "embargoenddate", "embargoends"}, joined):
			at, ok := parseTimeOrDay(text)
			isUsual := slices.ContainsFunc(listed, func(item []byte) bool {
				theirs, known := parseTimeOrDay(strings.Join(openapi.MemberValues(item, name), ""))
				return known && theirs.After(now.Add(overdueMargin))
			})
			if ok && at.After(now.Add(overdueMargin)) && !isUsual {
				return clip(name + " is " + text)
			}
		}
	}
	return ""
}

// hasOtherState reports whether a record is in a state that no listed one has, such as archived. The list may leave it out for that reason.
func hasOtherState(record []byte, listed [][]byte) bool {
	for _, name := range []string{"status", "state", "phase", "archived", "isArchived"} {
		values := openapi.MemberValues(record, name)
		if len(values) == 1 && !slices.ContainsFunc(listed, func(item []byte) bool { return slices.Equal(openapi.MemberValues(item, name), values) }) {
			return true
		}
	}
	return false
}

// judgeBelowUnknownRecord judges operations below a detail, such as the documents of a call, for a record that does not exist.
func judgeBelowUnknownRecord(e Evidence) []Judgement {
	detail, known := operation(e, e.Roles.Detail)
	if !known {
		return nil
	}
	var parts []Judgement
	for _, r := range e.Roles.Operations {
		o, _ := operation(e, r)
		x, sent := e.Get(r.With("unknown-id"))
		if !sent || !strings.HasPrefix(o.Path, detail.Path+"/") || !success(e.exchange(r.With(evidence.OK))) {
			continue
		}
		want := expect(x, "404")
		switch {
		case serverError(x) && x.Attempts > 1:
			parts = append(parts, want.failed("a path below a record that does not exist breaks the node", describe(x)))
		case success(x) && documentedExactly(e, r, 404):
			parts = append(parts, want.failed("a path below a record that does not exist is answered as if the record existed, and the document describes 404", describe(x)).
				Hinting("look up the record first, and answer 404 if it does not exist: an empty list says that the record exists"))
		}
	}
	return parts
}

// findMisplacedItems finds items below a record that, by their own members, belong to another record.
func findMisplacedItems(e Evidence) []Judgement {
	detail, known := operation(e, e.Roles.Detail)
	if !known {
		return nil
	}
	var s survey
	for _, x := range operationAnswers(e) {
		o, _ := operation(e, x.Label.Resource())
		below, isBelow := strings.CutPrefix(o.Path, detail.Path+"/")
		if !isBelow || !success(x) || strings.Contains(below, "{") || lacksGoodToken(x) {
			continue
		}
		id, ok := idInPath(x, below)
		text, err := e.jsonText(x)
		if !ok || err != nil {
			continue
		}
		items, err := e.itemsOf(x)
		if err != nil {
			items = [][]byte{text}
		}
		for i, item := range items {
			for _, name := range parentMembers(detail.Path) {
				has := openapi.MemberValues(item, name)
				if len(has) == 1 && has[0] != id {
					want := Subject{Name: clip(callInWords(x)) + " $[" + strconv.Itoa(i) + "]." + clip(name), Label: x.Label, Expected: quote(id)}
					s.add(string(x.Label.Resource()), want.failed("an item below a record belongs to another record", quote(has[0])).Hinting("select by the id in the path, in every query below the record"))
				}
			}
		}
	}
	return s.faults
}

// idInPath returns the decoded id of a record from the path of a call; below is the part of the path after the id.
func idInPath(x evidence.Exchange, below string) (string, bool) {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return "", false
	}
	path, isBelow := strings.CutSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), "/"+below)
	id, err := url.PathUnescape(path[strings.LastIndexByte(path, '/')+1:])
	return id, isBelow && err == nil && id != ""
}

// parentMembers returns the members in which an item below a record may name the record: callId, call_id and call.id below /calls/{id}.
func parentMembers(path string) []string {
	segments := strings.Split(path, "/")
	if len(segments) < 2 {
		return nil
	}
	noun := strings.TrimSuffix(segments[len(segments)-2], "s")
	return []string{noun + "Id", noun + "_id", noun + "ID", noun + ".id"}
}
