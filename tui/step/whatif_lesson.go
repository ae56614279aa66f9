package step

import (
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/view"
)

// lesson is what a mistake teaches: what was presented, how it was challenged, and what a client does about it.
func (s *whatIf) lesson(i, width int) []string {
	scene := s.scenes[i]
	if scene == nil {
		return nil
	}
	var lines []string
	say := func(lead, text string) { lines = append(lines, view.Hang(s.Theme.Muted.Render(lead), text, width)...) }
	if x, ok := s.stage.Exchange(); ok {
		presented := "no Authorization"
		for _, f := range x.Request.Header {
			if strings.EqualFold(f.Name, "Authorization") {
				presented = "Authorization: " + s.show()(f.Value)
			}
		}
		if len(x.Request.Body) == 0 {
			say("sent      ", presented)
		}
		if x.Response != nil {
			challenges := 0
			for _, f := range x.Response.Header {
				if strings.EqualFold(f.Name, "WWW-Authenticate") && challenges < 4 {
					say("challenge ", s.show()(f.Value))
					challenges++
				}
			}
			if challenges == 0 && x.Status() == 401 {
				say("challenge ", "none")
			}
		}
		lines = append(lines, "")
	}
	if len(scene.Verdicts) == 0 && s.mistakes[i].Name == "expired" { // what the scene says of the time is over soon
		say("", "The token that this walk holds is sent once it has expired. To send another expired one now, start with --expired-token.")
		return append(lines, "", s.Theme.Key.Render("s")+" makes the mistake: "+s.waits(s.mistakes[i]))
	}
	says := scene.Says
	if len(lines) > 0 && len(says) > 1 {
		says = says[1:] // the status stands above
	}
	for _, text := range says {
		say("", text)
	}
	return lines
}

// rules are those that the answer kept, with their places; the broken ones are told in full already.
func (s *whatIf) rules(i, width int) []string {
	var lines []string
	for _, v := range s.scenes[i].Verdicts {
		if v.Outcome == requirement.Pass {
			lines = append(lines, view.Hang("  "+s.Theme.Key.Render(string(v.ID))+" ", v.Title+" ("+v.Source+")", width)...)
		}
	}
	return lines
}
