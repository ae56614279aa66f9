package deviation

import "net/http"

func tokenDeviations() []Deviation {
	return []Deviation{
		{
			Name:   "token-status-201",
			Why:    "The token endpoint answers 201 Created, as frameworks do for a POST that makes something.",
			Breaks: []string{"TOK-02"},
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				if a.ok() {
					a.Status = http.StatusCreated
				}
			}, Token),
		},
	}
}
