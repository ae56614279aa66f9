package clientrules_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

// noon returns the time of all requests in these tests.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// sample returns the report on a client that forgot the word Bearer, and on one without findings.
func sample() clientrules.Report {
	entry := func(number uint64, client string, status int) journal.Entry {
		return journal.Entry{Number: number, Time: noon(), Ended: noon(), Node: "XA", Operation: journal.Info, Origin: "http://127.0.0.1:8080", Method: "GET",
			Path: "/info", Client: client, Proven: true, Agent: "tool/1", Accept: "*/*", ContentType: "application/json", Status: status}
	}
	bad := entry(1, "importer", 401)
	bad.Authorization = journal.Authorization{Fields: 1, Print: "0123456789ab"}
	bad.Refusal = &journal.Refusal{Detail: "the word Bearer is missing", Unreadable: true}
	bad.Deviations = []string{"slow"}
	return clientrules.Judge(journal.Record{Entries: []journal.Entry{bad, entry(2, "reader", 200)}, Dropped: 7})
}

// hostile returns the report on a client that sends word in every text of its requests.
func hostile(word string) clientrules.Report {
	e := journal.Entry{Number: 1, Time: noon(), Ended: noon(), Node: "XA", Operation: journal.List, Origin: "http://127.0.0.1:8080", Method: "GET",
		Path: "/" + word, Query: "a=" + word, Client: word, Agent: word, Accept: word, ContentType: word, Status: 400, Ignored: []string{word},
		Refusal: &journal.Refusal{Detail: word, Parameter: word}, Deviations: []string{word}, TokenPath: "/token"}
	served := e
	served.Number, served.Status, served.Refusal = 2, 200, nil
	return clientrules.Judge(journal.Record{Entries: []journal.Entry{e, served}})
}

func text(r clientrules.Report, columns int) string {
	var b bytes.Buffer
	if err := clientrules.WriteText(&b, r, columns); err != nil {
		panic(err)
	}
	return b.String()
}

func page(r clientrules.Report) string {
	var b bytes.Buffer
	if err := clientrules.WriteHTML(&b, r); err != nil {
		panic(err)
	}
	return b.String()
}

var _ = Describe("The text", func() {
	It("names each client, the rules that it broke, and how to do it right", func() {
		Expect(text(sample(), 80)).To(Equal(`importer · 1 fault
  1 request: 1 call of protected resources, 0 tokens fetched, 1 refused; at XA
  2026-03-01 12:00:00 UTC
  tool/1

  CLT-14 FAULT The token is sent as Authorization: Bearer <token>
    seen   12:00:00 GET /info: the word Bearer is missing (#1, while the node
           deviated: slow)
    why    Without the word Bearer, with quotes, or with the word twice, a valid
           token is refused.
    rule   NET-R12; RFC 6750 §2.1
    fix    send one header: the word Bearer, one blank, and the value of
           access_token as it was received
    right  curl -sg -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' http://127.0.0.1:8080/info

reader · no findings
  1 request: 1 call of protected resources, 0 tokens fetched, 0 refused; at XA
  2026-03-01 12:00:00 UTC
  tool/1

The journal no longer holds the first 7 requests: start the sandbox with a
larger --journal, or judge earlier.

Not clean: faults to mend in 1 of 2 clients
`))
	})

	It("fits into the columns, except for commands", func() {
		for _, columns := range []int{40, 60, 100} {
			for line := range strings.SplitSeq(text(sample(), columns), "\n") {
				if !strings.HasPrefix(line, "    right") {
					Expect(utf8.RuneCountInString(line)).To(BeNumerically("<=", columns), line)
				}
			}
		}
	})

	It("says that there are no requests", func() {
		Expect(text(clientrules.Judge(journal.Record{}), 80)).To(Equal("Nothing to judge: no client has sent a request yet\n"))
	})
})

var _ = Describe("Lines", func() {
	It("show the request, the answer, the reason, and how to do it right", func() {
		var b bytes.Buffer
		Expect(clientrules.WriteLines(&b, []clientrules.Line{
			{Entry: journal.Entry{Number: 9, Time: noon(), Method: "GET", Path: "/list", Query: "page=2", Status: 200, Page: &journal.Page{Items: 1, Next: true}, Ignored: []string{"x"}},
				Remark: clientrules.Remark{Client: "importer", Rules: []clientrules.ID{"CLT-20"}, Curl: "curl -sg http://127.0.0.1/list"}},
			{Entry: journal.Entry{Number: 10, Time: noon(), Method: "GET", Path: "/" + strings.Repeat("a", 90), Status: 503, Cut: true, RetryAfter: "3", Deviations: []string{"slow"},
				Refusal: &journal.Refusal{Detail: "the node is busy", Hint: "come back later"}}},
			{Entry: journal.Entry{Number: 11, Time: noon(), Method: "GET", Path: "/\x1b[2J"}},
		}, 80)).To(Succeed())
		Expect(b.String()).To(Equal(`   #9  12:00:00 importer GET /list?page=2 -> 200, 1 item and more, ignored x
       breaks CLT-20
       right  curl -sg http://127.0.0.1/list
  #10  12:00:00 - GET
       /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
       aaaaaaaaaaaaaaaaaa -> 503, cut, Retry-After: 3, deviates: slow
       the node is busy; come back later
  #11  12:00:00 - GET /\x1b[2J -> answer not seen
`))
	})
})

var _ = Describe("Hostile texts of clients", func() {
	words := []string{
		"\x1b[31mred\x1b[0m\x07", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a\nb\rc\td", "\u202egnp.exe", "\xff\xfe", "';echo pwned;'", "$(reboot)`reboot`",
		"e\u0301\u0301\u0301\u0301", "</style><script>", "{{.}}",
	}

	It("do not act on a terminal", func() {
		for _, word := range words {
			for _, r := range text(hostile(word), 80) {
				Expect(r == '\n' || unicode.IsPrint(r)).To(BeTrue(), "%q in %q", r, word)
			}
		}
	})

	It("are not markup on the page", func() {
		for _, word := range words {
			got := page(hostile(word))
			Expect(strings.Count(got, "<script")).To(BeZero(), word)
			Expect(strings.Count(got, "<img")).To(BeZero(), word)
			Expect(strings.Count(got, "<style")).To(Equal(1), word)
		}
	})

	It("are quoted in a command", func() {
		for _, f := range hostile("';echo pwned;'").Clients[0].Findings {
			// curl is replaced by a function that prints its arguments, each on a line in angle brackets.
			out, err := exec.Command("sh", "-c", "curl() { printf '<%s>\\n' \"$@\"; }; TOKEN=t\n"+f.Curl).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(string(out)).NotTo(MatchRegexp(`(?m)^[^<]`), f.Curl)
		}
	})
})

var _ = Describe("The page", func() {
	It("is self-contained and may not fetch anything", func() {
		got := page(sample())
		Expect(got).To(ContainSubstring(`http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-`))
		Expect(got).NotTo(MatchRegexp(`(?i)<script|<link|<img|url\(|@import| style=| on[a-z]+=`))
		Expect(got).To(ContainSubstring("<title>Not clean: faults to mend in 1 of 2 clients · rin</title>"))
		Expect(got).To(ContainSubstring("CLT-14"))
	})
})

var _ = Describe("The JSON", func() {
	It("round-trips", func() {
		var b bytes.Buffer
		Expect(clientrules.WriteJSON(&b, sample())).To(Succeed())
		var got clientrules.Report
		Expect(json.Unmarshal(b.Bytes(), &got)).To(Succeed())
		Expect(got).To(Equal(sample()))
		Expect(got.Schema).To(Equal("rin.conduct/v1"))
	})

	It("matches its schema, and does not act on a terminal", func() {
		schema, err := os.ReadFile("schema/conduct.v1.json")
		Expect(err).NotTo(HaveOccurred())
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		Expect(err).NotTo(HaveOccurred())
		compiler := jsonschema.NewCompiler()
		Expect(compiler.AddResource("conduct.json", document)).To(Succeed())
		compiled, err := compiler.Compile("conduct.json")
		Expect(err).NotTo(HaveOccurred())
		for _, r := range []clientrules.Report{sample(), clientrules.Judge(journal.Record{}), hostile("\u009b31m\u202e\U000e0001")} {
			var b bytes.Buffer
			Expect(clientrules.WriteJSON(&b, r)).To(Succeed())
			Expect(strings.ContainsFunc(b.String(), func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) })).To(BeFalse())
			value, err := jsonschema.UnmarshalJSON(&b)
			Expect(err).NotTo(HaveOccurred())
			Expect(compiled.Validate(value)).To(Succeed())
		}
	})
})

func FuzzText(f *testing.F) {
	f.Add("a", 80)
	f.Add("\x1b[2J", 1)
	f.Add(strings.Repeat("\u0301", 100), 40)
	f.Fuzz(func(t *testing.T, word string, columns int) {
		got := text(hostile(word), columns)
		for _, r := range got {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%q shows %q", word, r)
			}
		}
		if strings.Contains(page(hostile(word)), "<script") {
			t.Fatalf("%q is markup", word)
		}
	})
}
