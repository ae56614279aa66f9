package web_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/net/html"
)

// markup is what a browser loads, links to and runs in a page.
type markup struct {
	loads  []string // addresses that are loaded with the page
	links  []string // addresses that a reader may follow
	inline []string // scripts, styles and event handlers in the page itself
	text   string
}

// read parses the HTML of a page.
func read(page string) markup {
	GinkgoHelper()
	var m markup
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := tokens.Next()
		token := tokens.Token()
		switch kind {
		case html.ErrorToken:
			Expect(tokens.Err()).To(MatchError("EOF"))
			return m
		case html.TextToken:
			m.text += token.Data
		case html.StartTagToken, html.SelfClosingTagToken:
			m.add(token)
		}
	}
}

func (m *markup) add(token html.Token) {
	hasSource := false
	for _, a := range token.Attr {
		switch {
		case a.Key == "src":
			hasSource = true
			m.loads = append(m.loads, a.Val)
		case a.Key == "href" && token.Data == "link":
			m.loads = append(m.loads, a.Val)
		case a.Key == "href":
			m.links = append(m.links, a.Val)
		case a.Key == "style", strings.HasPrefix(a.Key, "on"):
			m.inline = append(m.inline, a.Key+"="+a.Val)
		}
	}
	if token.Data == "style" || token.Data == "script" && !hasSource {
		m.inline = append(m.inline, token.Data)
	}
}
