package screen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("Choosing a node", func() {
	withoutTarget := func(t *target.Target) { *t = target.Target{} }

	// newSandboxFixture returns a fixture without a target. Its built-in sandbox starts, or fails, when release gets a value.
	newSandboxFixture := func() (b *fixture, release chan error) {
		GinkgoHelper()
		release = make(chan error, 1)
		b = newFixture(flow.Node, options{skipRegistry: true, changeTarget: withoutTarget})
		b.Start = func(context.Context) (target.Target, error) {
			err := <-release
			c := b.node.Credentials()[0]
			return target.Target{Registry: b.node.URL + "/registry/registry.json", NodeID: "XA",
				Credentials: target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}}, err
		}
		return b, release
	}
	open := func(b *fixture) *tuitest.Commands { return tuitest.NewCommands(b.Open()) }

	It("is visible before the built-in sandbox runs, and enter alone leads to its first node", func() {
		b, release := newSandboxFixture()
		u := open(b)
		Expect(b.frame(80, 24)).To(And(ContainSubstring("› The built-in sandbox"), ContainSubstring("starting …"), ContainSubstring("All other URLs follow")))
		b.golden("node-starting")
		Expect(b.Update(tuitest.Key("enter"))).To(BeNil())
		Expect(b.frame(80, 24)).To(ContainSubstring("starting the sandbox"))
		release <- nil
		b.waitFor(u, "› XA ")
		b.golden("node-entries")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		Expect(b.Walk.Target().TokenURL).To(Equal(b.node.URL + "/oauth/token"))
		Expect(b.Walk.Target().Credentials.ClientID).To(Equal("demo-client"))

		b.Walk.SetAccount(flow.Account{Client: target.Credentials{ClientID: "mistyped", ClientSecret: target.NewSecret("mistyped-as-well")}})
		release <- nil
		b.press("down", "down", "enter")
		Expect(b.Walk.Target().Credentials.ClientID).To(Equal("demo-client"), "choosing the sandbox again restores its client")
		Expect(b.frame(80, 24)).To(ContainSubstring("› XA "))
	})

	It("says why the built-in sandbox does not start, and tries again", func() {
		b, release := newSandboxFixture()
		release <- errors.New("no port is free")
		b.waitFor(open(b), "did not start")
		u := b.begin("enter")
		release <- errors.New("no port is free")
		b.waitFor(u, "no port is free")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("What to try"), ContainSubstring("try again")))
		u = b.begin("enter")
		release <- nil
		b.waitFor(u, "› XA ")
	})

	It("finds a node by a part of its name, and shows its URLs and what was sent", func() {
		b := newFixture(flow.Node, options{skipRegistry: true}).press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("› XA "), ContainSubstring("XA_Realm"), ContainSubstring("token URL http://127.0.0.1:10001/oauth/token")))
		b.press("/")
		Expect(b.Typing()).To(BeTrue())
		b.typeText("rea?").press("backspace", "l")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("› XA_Realm"), ContainSubstring("/ real"), Not(ContainSubstring("XA  ")), ContainSubstring("/realms/")))
		b.golden("node-filter")
		Expect(b.press("enter", "tab", "tab").frame(80, 24)).To(ContainSubstring("GET /registry/registry.json HTTP/1.1"))
		Expect(b.press("left", "/", "esc").frame(80, 24)).To(ContainSubstring("› XA "))
		Expect(b.Typing()).To(BeFalse())
	})

	It("marks the node that the command line named", func() {
		b := newFixture(flow.Node, options{skipRegistry: true, changeTarget: func(t *target.Target) { t.NodeID = "XA_Realm" }}).press("enter")
		Expect(b.frame(80, 24)).To(ContainSubstring("› XA_Realm"))
	})

	It("takes another registry, by URL or file, and drops the credentials", func() {
		b := newFixture(flow.Node, options{changeSession: func(w *screen.Session) {
			w.ReadFile = func(path string) ([]byte, error) {
				if path != "ris.json" {
					return nil, errors.New("there is no such file")
				}
				return []byte(`[{"id":"FILE","name":"of a file","oauth2":"http://127.0.0.1:1/t","info":"http://127.0.0.1:1/i"}]`), nil
			}
		}}).press("down", "enter")
		Expect(b.Typing()).To(BeTrue())
		Expect(b.hints()).To(Equal("enter read registry, esc leave the form"))
		b.golden("node-registry-form")
		b.clear().typeText("http://registry.example/ris.json").submit("not encrypted")
		b.clear().typeText("other.json").submit("there is no such file")
		b.clear().submit("this field is required")
		b.typeText("ris.json").submit("› FILE of a file")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		Expect(b.Walk.Target().TokenURL).To(Equal("http://127.0.0.1:1/t"))
		Expect(b.Walk.Target().Credentials).To(BeZero())
	})

	It("takes the URLs of a node, with the same error texts as the flags", func() {
		b := newFixture(flow.Node, options{skipRegistry: true, changeTarget: withoutTarget}).press("end", "enter")
		Expect(b.hints()).To(Equal("enter next field, esc leave the form"))
		b.golden("node-urls-form")
		b.typeText("node.example/token").submit("expected an absolute http or https URL")
		b.clear().typeText("http://node.example/token").submit("is not encrypted")
		b.clear().typeText("https://me:secret@node.example/token").submit("user name or password")
		b.clear().typeText(b.node.URL + "/oauth/token").submit("› Info URL")
		Expect(b.hints()).To(Equal("enter next field, esc leave the form, shift+tab previous field"))
		b.typeText(b.node.URL + "/ris-synergy/info/v1/oauth/info/").submit("› Specification URL")
		Expect(b.hints()).To(Equal("enter use them, esc leave the form, shift+tab previous field"))
		b.submit("chosen")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		Expect(b.Walk.Target().SpecURL).To(Equal(b.node.URL + "/ris-synergy/funding/v3/api-docs"))
	})

	It("discards a form on esc", func() {
		b := newFixture(flow.Node, options{})
		before := b.Walk.Target()
		b.press("end", "enter").typeText("x").press("esc")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.Walk.Target()).To(Equal(before))
	})

	DescribeTable("shows what is wrong with a registry, tries again, and opens the form to edit it", func(change func(http.Handler) http.Handler, changeTarget func(*target.Target), what string) {
		b := newFixture(flow.Node, options{skipRegistry: true, change: change, changeTarget: changeTarget}).press("enter")
		Expect(b.frame(80, 40)).To(And(ContainSubstring("✗ "), ContainSubstring(what), ContainSubstring("What usually causes it"), ContainSubstring("e     edit the node")))
		sent := len(b.Walk.History())
		Expect(len(b.press("enter").Walk.History())).To(BeNumerically(">", sent))
		b.press("e")
		Expect(b.Typing()).To(BeTrue())
		Expect(b.frame(80, 24)).To(ContainSubstring("/registry/registry.json"))
	},
		Entry("nothing answers", nil, func(t *target.Target) { t.Registry = "http://127.0.0.1:1/registry/registry.json" }, "no server answers"),
		Entry("TLS on a port for plain HTTP", nil, func(t *target.Target) { t.Registry = strings.Replace(t.Registry, "http:", "https:", 1) }, "TLS connection failed"),
		Entry("a web page", answering("/registry.json", 200, "text/html", "<html>welcome</html>"), nil, "HTML where JSON was expected"),
		Entry("another document", answering("/registry.json", 200, "application/json", `{"a":1}`), nil, "expected a registry document"),
	)

	It("keeps its layout whatever the registry says", func() {
		type entry struct {
			ID      string `json:"id"`
			Acronym string `json:"acronym"`
			Name    string `json:"name"`
			Token   string `json:"oauth2"`
			Info    string `json:"info"`
		}
		entries := []entry{{"\x1b[2J\x1b]0;owned\a", "\u202eevil\u2066", strings.Repeat("長い名前 ", 900), "http://127.0.0.1:1/\x1b[31m", strings.Repeat("http://127.0.0.1:1/", 400)}, {}}
		for i := range 600 {
			entries = append(entries, entry{ID: fmt.Sprint("N", i), Name: "line\r\nfeed\u2028\u0085\u0000 e\u0301\u0301\u0301"})
		}
		text, err := json.Marshal(entries)
		Expect(err).NotTo(HaveOccurred())
		b := newFixture(flow.Node, options{skipRegistry: true, change: answering("/registry.json", 200, "application/json", string(text))}).press("enter")
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			for _, keys := range [][]string{{"home"}, {"down"}, {"end"}, {"up", "up", "up", "enter"}, {"tab"}, {"left"}} {
				b.press(keys...)
				b.frame(size[0], size[1])
			}
		}
	})
})

// answering replaces the answers of all paths that end in end.
func answering(end string, status int, kind, body string) func(http.Handler) http.Handler {
	return tuitest.ReplaceAnswer(end, tuitest.Answer(status, kind, body))
}
