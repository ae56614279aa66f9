package sheet

import (
	"crypto/sha256"
	_ "embed" // the page is made of files
	"encoding/base64"
	"html/template"
	"io"

	"github.com/rin-network/rin/sandbox/conduct"
)

// HTML writes the report as one page that needs nothing else: no script, no font, no picture, and no right to fetch any.
func HTML(w io.Writer, r conduct.Report) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"plain": plain, "name": name, "tally": tally, "deeds": deeds, "span": span, "evidence": evidence,
		"headline": headline, "remainder": remainder,
	}).Parse(pageHTML)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageCSS))
	return page.Execute(w, struct {
		conduct.Report
		CSS    template.CSS
		Policy string
	}{r, template.CSS(pageCSS), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"})
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string
