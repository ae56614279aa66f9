package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// version is the suite version in all samples.
const version = "0.1.0"

// noon returns the time of all sample runs.
func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func row(id requirement.ID, title string, gate requirement.Gate, profile requirement.Profile, source requirement.Source, quote, fix string) requirement.Requirement {
	return requirement.Requirement{ID: id, Title: title, Level: requirement.StandardMust, Gate: gate, Profile: profile,
		Source: source, Quote: quote, Fix: fix}
}

// smallCatalogue has a row for each outcome.
func smallCatalogue() []requirement.Requirement {
	return []requirement.Requirement{
		row("TOK-01", "A good request yields a token", requirement.Gating, requirement.Auth, requirement.NET("R3"), "client_secret = <CLIENT_SECRET>", "Accept the credentials in the form."),
		row("TOK-06", "Token answers are not cached", requirement.Gating, requirement.Auth, requirement.RFC(6749, "5.1").And(requirement.RFC(9111, "5.2.2.5")),
			"The authorization server MUST include the HTTP \"Cache-Control\" response header field with a value of \"no-store\"", "Send Cache-Control: no-store with every token answer."),
		row("TOK-13", "HTTP Basic is supported", requirement.Advice, requirement.Auth, requirement.RFC(6749, "2.3.1"),
			"The authorization server MUST support the HTTP Basic authentication scheme", "Allow client_secret_basic for the client."),
		row("TER-02", "A wrong secret is reported as invalid_client", requirement.Gating, requirement.Auth, requirement.RFC(6749, "5.2"),
			"Client authentication failed", "Answer invalid_client."),
		row("TER-08", "An unknown grant type is unsupported_grant_type", requirement.Gating, requirement.Auth, requirement.RFC(6749, "5.2"),
			"The authorization grant type is not supported by the authorization server.", "Answer unsupported_grant_type."),
		row("BRR-01", "A call without a token is refused", requirement.Gating, requirement.Auth, requirement.RFC(6749, "7").AsDerived(), "", "Demand a token."),
		row("BRR-18", "A client without the role gets no data", requirement.Gating, requirement.Funding, requirement.NET("R9").AsDerived(), "role EXTERNAL_API_CLIENT", "Check the role."),
		row("API-04", "Required properties are present", requirement.Gating, requirement.Funding, requirement.NET("R11"), "The API operations and payloads are defined by the specification file.", "Send the property, or take it out of \"required\"."),
		row("API-05", "Values have the declared JSON types", requirement.Gating, requirement.Funding, requirement.NET("R11"), "", "Send the declared type."),
	}
}

func smallJudgements() map[requirement.ID]requirement.Judgement {
	return map[requirement.ID]requirement.Judgement{
		"TOK-01": requirement.Passed("token.ok"),
		"TOK-06": requirement.Failed("the token answer may be stored by caches", "Cache-Control: no-store", "Cache-Control: max-age=300").
			About(requirement.Subject{Name: "header Cache-Control", Label: "token.ok"}),
		"TOK-13": requirement.Failed("HTTP Basic was refused", "200 with an access token", "401 invalid_client").Seen("token.basic").
			Noting("Many authorization servers allow one method per client."),
		"TER-02": requirement.Warned("the error code is unauthorized_client", "invalid_client", "unauthorized_client").Seen("token.wrong-secret").
			Hinting("This is Keycloak's own wording; it is tolerated."),
		"TER-08": requirement.Unclear("no answer to the token request with an unknown grant type: no complete answer within 35s").Seen("token.unknown-grant-type"),
		"BRR-01": requirement.Passed("info.no-token"),
		"BRR-18": requirement.Inapplicable("no second client was given"),
		"API-04": requirement.Failed("2 of 3 items lack required properties", "every required property", "missing properties").About(
			requirement.Subject{Name: "$[0].id", Label: "op/listFundings.ok", Expected: "required", Got: "missing"},
			requirement.Subject{Name: "$[2].name", Label: "op/listFundings.ok", Expected: "required", Got: "missing"},
		).Blaming(requirement.NodeDocument),
		"API-05": {Outcome: requirement.Blocked, BlockedBy: "API-04", Reason: "needs API-04, which is fail"},
	}
}

const tokenMarker = "[[access_token:1f2e3d4c:plain]]"

func call(label evidence.Label, method, url string, status int, body string, header ...evidence.Field) evidence.Exchange {
	x := evidence.Exchange{
		Label: label, Attempts: 1, Started: noon(), Duration: 12300 * time.Microsecond,
		Request: evidence.Request{Method: method, URL: url, Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}},
		Words: map[evidence.Case]string{
			"basic": "with HTTP Basic", "wrong-secret": "with the wrong secret", "unknown-grant-type": "with the unknown grant type", evidence.NoToken: "without a token",
		}[label.Case()],
	}
	if method == "POST" {
		x.Request.Body = evidence.Body("grant_type=client_credentials&client_id=demo&client_secret=[[client_secret:99aa88bb:percent]]")
		x.Request.Header = append(x.Request.Header, evidence.Field{Name: "Content-Type", Value: "application/x-www-form-urlencoded"})
	} else if label.Case() != evidence.NoToken {
		x.Request.Header = append(x.Request.Header, evidence.Field{Name: "Authorization", Value: "Bearer " + tokenMarker})
	}
	if status == 0 {
		x.Attempts = 2
		x.Failure = &evidence.Failure{Kind: evidence.FailureTimeout, Message: "no complete answer within 35s"}
		return x
	}
	x.Response = &evidence.Response{Proto: "HTTP/1.1", Status: status, Header: append([]evidence.Field{{Name: "Content-Type", Value: "application/json"}}, header...),
		Body: evidence.Body(body), Size: int64(len(body))}
	return x
}

// tried says which parameter a call tries.
func tried(parameter, value string, try evidence.Try, x evidence.Exchange) evidence.Exchange {
	x.Given = map[string]string{"parameter": parameter, "in": "query", "value": value, "try": string(try), "legal": "false"}
	return x
}

// smallLog returns the evidence behind the judgements.
func smallLog() *evidence.Log {
	const token, api = "https://auth.node.example/oauth/token", "https://api.node.example/ris-synergy"
	return &evidence.Log{
		Run: evidence.Run{
			Schema: evidence.Schema, Suite: version, Started: noon(), Profile: "funding",
			TokenURL: token, InfoURL: api + "/info/v1/oauth/info/", SpecURL: api + "/funding/v3/api-docs", BaseURL: api,
			ClientID: "demo", Budget: 40,
			DocumentFile: &evidence.DocumentFile{Path: "api/openapi.yaml", Lines: map[string]int{"/paths/~1fundings": 11, "/paths/~1fundings/get": 12}},
		},
		Roles: evidence.Roles{ProbeTarget: evidence.Info, List: "op/listFundings", Operations: []evidence.Resource{"op/listFundings"}},
		Exchanges: []evidence.Exchange{
			call("token.ok", "POST", token, 200, `{"access_token":"`+tokenMarker+`","token_type":"Bearer","expires_in":300}`, evidence.Field{Name: "Cache-Control", Value: "max-age=300"}),
			call("token.wrong-secret", "POST", token, 401, `{"error":"unauthorized_client","error_description":"Invalid client or Invalid client credentials"}`),
			call("token.basic", "POST", token, 401, `{"error":"invalid_client"}`),
			call("token.unknown-grant-type", "POST", token, 0, ""),
			call("info.no-token", "GET", api+"/info/v1/oauth/info/", 401, "", evidence.Field{Name: "WWW-Authenticate", Value: `Bearer realm="node"`}),
			call("op/listFundings.ok", "GET", api+"/funding/v3/fundings", 200, `[{"name":[{"text":"Förderung für Frühphasen","language":"de"}]},{"id":"b","name":[]},{"id":"c"}]`),
			tried("fundingType", "conformance-unknown", evidence.OutsideEnum, call("op/listFundings.outside-enum-fundingType", "GET", api+"/funding/v3/fundings?fundingType=conformance-unknown", 400, "")),
		},
		Planned: []evidence.Label{"token.ok", "op/getFunding.ok"},
		NotSent: []evidence.NotSent{{Label: "op/getFunding.ok", Kind: evidence.Unmet, Because: "the list holds no item with an id"}},
		Document: &evidence.Document{Reduced: json.RawMessage(`{"openapi":"3.0.1","info":{"title":"Funding","version":"3"},"paths":{` +
			`"/fundings":{"get":{"operationId":"listFundings","parameters":[{"name":"fundingType","in":"query","schema":{"enum":["CALL","GRANT"]}},` +
			`{"name":"session","in":"cookie","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"},"304":{"description":"known"}}},"post":{"operationId":"addFunding","responses":{"201":{"description":"ok"}}}},` +
			`"/fundings/{id}":{"get":{"operationId":"getFunding","responses":{"200":{"description":"ok"}}}}}}`)},
		Ended: &evidence.Ended{Complete: true, Requests: 8},
	}
}

// reportOf returns the report of the small catalogue for given evidence and judgements.
func reportOf(log *evidence.Log, judged map[requirement.ID]requirement.Judgement) report.Report {
	return report.New(verdict.Decide(smallCatalogue(), judged, log, nil), requirement.Read(log), version)
}

// small returns the report of a node with one of everything.
func small() (report.Report, *evidence.Log) {
	log := smallLog()
	return reportOf(log, smallJudgements()), log
}

// made returns the report of a run with every input that a report names, judged again.
func made() (report.Report, *evidence.Log) {
	log := smallLog()
	log.Run.NodeID, log.Run.AuthoritiesDigest, log.Run.AllowedOrigins = "XA", "sha256:"+strings.Repeat("a", 64), []string{"https://other.example"}
	log.Run.Gaps, log.Run.Values, log.Run.Seed = []evidence.Gap{{Operation: "getFunding", Reason: "no report"}}, []string{"year"}, "42"
	log.RegistryFacts = &evidence.RegistryFacts{Digest: "sha256:" + strings.Repeat("b", 64), Entries: 1}
	r := reportOf(log, smallJudgements())
	return r.JudgedAgain("evidence.jsonl.gz", "sha256:"+strings.Repeat("c", 64)), log
}

// excused returns the report of the same node with a baseline of known failures.
func excused() (report.Report, *evidence.Log) {
	log := smallLog()
	known := &verdict.Baseline{Known: []verdict.KnownFailure{
		{ID: "API-04", Reason: "the importer drops it: " + evil(), Until: "2026-12-31"},
		{ID: "TOK-01", Reason: "was broken", Until: "2026-12-31"}, {ID: "TOK-06", Reason: "a cache", Until: "2026-03-01"},
	}}
	return report.New(verdict.Decide(smallCatalogue(), smallJudgements(), log, known), requirement.Read(log), version), log
}

// good returns the report of a conforming node, for a catalogue about as large as the real one.
func good() (report.Report, *evidence.Log) {
	log := smallLog()
	var rows []requirement.Requirement
	judged := map[requirement.ID]requirement.Judgement{}
	for _, group := range []struct {
		name string
		rows int
	}{{"TOK", 18}, {"TER", 12}, {"BRR", 17}, {"INF", 7}, {"SPC", 6}, {"API", 8}, {"PAG", 4}, {"VER", 1}} {
		for i := range group.rows {
			id := requirement.ID(fmt.Sprintf("%s-%02d", group.name, i+1))
			rows = append(rows, row(id, "Requirement "+string(id)+" holds", requirement.Gating, requirement.Funding, requirement.RFC(6749, "5.1"), "The server MUST.", "Do it."))
			judged[id] = requirement.Passed("token.ok")
		}
	}
	judged["TOK-07"] = requirement.Warned("the header Pragma is missing", "Pragma: no-cache", "no Pragma").Seen("token.ok")
	judged["BRR-16"] = requirement.Inapplicable("no second client was given")
	judged["BRR-17"] = requirement.Inapplicable("no second client was given")
	judged["PAG-04"] = requirement.Inapplicable("the document declares no paging")
	return report.New(verdict.Decide(rows, judged, log, nil), requirement.Read(log), version), log
}

// evil returns a text with escape sequences and markup that a hostile node may send.
func evil() string {
	return "\x1b[2J\x1b]0;owned\a\u009b31m<script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"' onload=x ]]> <!-- ` `` ``` ~~~ " +
		"**bold** [link](javascript:alert(3)) ![i](http://evil.example/x.png) @everyone #1 https://evil.example | cell \\ \u202egnp.exe\u2066 \u200b \ufeff " +
		"\U000e0041 \x00 \xff\xfe \r\n## heading\n<details open>\n" + strings.Repeat("`", 12)
}

// hostile returns a report with [evil] in every text that a node controls.
func hostile() (report.Report, *evidence.Log) {
	log := smallLog()
	bad := evil()
	log.Run.Profile = bad // an evidence file can be written by anybody
	log.Run.InfoURL, log.Run.BaseURL, log.Run.ClientID, log.Run.NodeID = bad, bad, bad, bad
	log.Run.Partial = ""
	log.NotSent[0].Because = bad
	log.Document.Reduced = json.RawMessage(`{"openapi":"3.0.1","info":{"title":"T","version":"3"},"paths":{` +
		string(must(json.Marshal("/"+bad))) + `:{"get":{"operationId":` + string(must(json.Marshal(bad))) + `,"responses":{"200":{"description":"ok"}}}}}}`)
	log.Ended = &evidence.Ended{Cause: bad, Requests: 50}
	for i := range log.Exchanges {
		x := &log.Exchanges[i]
		x.Request.URL = "https://node.example/" + bad
		x.Given = map[string]string{bad: bad}
		x.Redirects = []evidence.Hop{{URL: bad, Status: 302, Location: bad}}
		if x.Response != nil {
			x.Response.Body = evidence.Body(bad)
			x.Response.Header = append(x.Response.Header, evidence.Field{Name: bad, Value: bad})
			x.Response.BodyError = bad
		} else {
			x.Failure.Message = bad
		}
	}
	judged := smallJudgements()
	for id, j := range judged {
		if j.Outcome == requirement.Pass {
			continue
		}
		j.Reason, j.Expected, j.Got, j.Hint, j.Notes = bad, bad, bad, bad, []string{bad}
		for i := range j.Subjects {
			j.Subjects[i].Name, j.Subjects[i].Expected, j.Subjects[i].Got = bad, bad+"1", bad+"2"
		}
		judged[id] = j
	}
	return reportOf(log, judged), log
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
