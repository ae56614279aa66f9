package deviation

import (
	"net/http"
	"net/url"
	"strings"
)

// linkDeviations break the links between pages.
func linkDeviations() []Deviation {
	return []Deviation{
		{
			Name: "next-link-cleartext", Breaks: []string{"PAG-10"},
			Why:  "The links between pages begin with http:// and have no port: the node does not know that it is behind a proxy.",
			Wrap: relinking(func(host, link string) string { return strings.ReplaceAll(link, "</", "<http://"+hostname(host)+"/") }),
		},
		{
			Name: "next-link-internal-host", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page names the host inside the network of the node.",
			Wrap: relinking(func(_, link string) string { return onlyNext(link, "https://backend.internal:8443/") }),
		},
		{
			Name: "link-without-brackets", Breaks: []string{"PAG-10"},
			Why:  "The targets of links stand without angle brackets.",
			Wrap: relinking(func(_, link string) string { return strings.NewReplacer("<", "", ">", "").Replace(link) }),
		},
		{
			Name: "next-link-dead", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page lacks the prefix that the gateway takes off, and gives 404.",
			Wrap: relinking(func(_, link string) string { return onlyNext(link, "/page-of/") }),
		},
		{
			Name: "next-link-to-itself", Breaks: []string{"PAG-10"},
			Why: "The link to the next page leads to the page itself.",
			Wrap: rewrite(func(r *http.Request, a *Answer) {
				if strings.Contains(a.Header.Get("Link"), `rel="next"`) {
					a.set("Link", "<"+r.URL.RequestURI()+`>; rel="next"`)
				}
			}, FundingList),
		},
	}
}

// relinking makes a Wrap that changes the Link header of lists.
func relinking(change func(host, link string) string) wrap {
	return rewrite(func(r *http.Request, a *Answer) {
		if link := a.Header.Get("Link"); link != "" {
			a.set("Link", change(r.Host, link))
		}
	}, FundingList)
}

// onlyNext puts a start before the target of the link to the next page.
func onlyNext(link, start string) string {
	parts := strings.Split(link, ", ")
	for i, p := range parts {
		if strings.HasSuffix(p, `rel="next"`) {
			parts[i] = strings.Replace(p, "</", "<"+start, 1)
		}
	}
	return strings.Join(parts, ", ")
}

// hostname is a host without its port.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }
