package openapi

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Order says how a list is sorted, as far as the document describes it.
type Order struct {
	By   string // the name of a member, without case and separators
	Down bool
	// Certain reports that the document names the direction.
	Certain bool
	// NullsLast and TiesByID are promises in prose: items without a value come last, items with equal values come in the order of their ids.
	NullsLast, TiesByID bool
	// TiesUp reports that the promise about ids names the ascending direction. TieWord is the word of the promise for the id.
	TiesUp  bool
	TieWord string
	// Apart reports that some items come before or after all others in each order.
	Apart bool
	// InProse reports that only the description of the operation names the order.
	InProse bool
}

// An OrderQuery is an order that an operation offers, with the query that asks for it.
type OrderQuery struct {
	Order
	Query [][2]string
	Words string // "sort=-deadline"
}

// maxOrders bounds the orders of an operation.
const maxOrders = 40

// Orders lists the orders that an operation offers: the words of its sort parameter, with those of a parameter for the direction, if there is one.
func (o Operation) Orders() []OrderQuery {
	by, direction, ok := o.sortParameters()
	if !ok {
		return nil
	}
	var out []OrderQuery
	for _, value := range wordsOf(by.Schema) {
		directions := []string{""}
		if direction.Name != "" {
			directions = wordsOf(direction.Schema)
		}
		for _, d := range directions {
			query := [][2]string{{by.Name, value}}
			if d != "" {
				query = append(query, [2]string{direction.Name, d})
			}
			if len(out) < maxOrders {
				out = append(out, OrderQuery{o.orderBy(by, value, d), query, queryWords(query)})
			}
		}
	}
	return out
}

func queryWords(query [][2]string) string {
	var out []string
	for _, q := range query {
		out = append(out, q[0]+"="+q[1])
	}
	return strings.Join(out, "&")
}

// OrderAsked returns the order that a query asks for: by its own words, by the defaults of the parameters, or by the description of the operation.
func (o Operation) OrderAsked(q url.Values) (order Order, words string, ok bool) {
	by, direction, described := o.sortParameters()
	if !described {
		return o.orderInProse()
	}
	value, d := q.Get(by.Name), ""
	if len(q[by.Name]) > 1 || len(q[direction.Name]) > 1 {
		return order, "", false
	}
	if direction.Name != "" {
		if d = q.Get(direction.Name); d == "" {
			d = defaultOf(direction.Schema)
		}
	}
	words = by.Name + "=" + value
	if value == "" {
		if value = defaultOf(by.Schema); value == "" {
			return o.orderInProse()
		}
		words = "the default " + by.Name + "=" + value
	}
	order = o.orderBy(by, value, d)
	return order, words, !comparesOtherwise(by.Description, order.By)
}

func defaultOf(s Schema) string {
	text, _ := scalar(s.Default)
	return text
}

// sortParameters returns the parameter that names what the list is sorted by, and the one that names the direction.
func (o Operation) sortParameters() (by, direction Parameter, ok bool) {
	for _, p := range o.QueryParameters() {
		words := wordsOf(p.Schema)
		onlyDirections := len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !isDirection(w) })
		switch {
		case onlyDirections && (RoleOf(p) == SortRole || slices.Contains([]string{"direction", "dir", "sortdir", "sortdirection", "orderdir", "orderdirection"}, Joined(p.Name))):
			direction = p
		case RoleOf(p) == SortRole && !ok:
			by, ok = p, true
		}
	}
	return by, direction, ok
}

func isDirection(word string) bool {
	return slices.Contains([]string{"asc", "desc", "ascending", "descending"}, strings.ToLower(word))
}

// wordsOf returns the words that a sort parameter allows: its vocabulary, that of its items, or those of a pattern such as ^-?(deadline|title)$.
func wordsOf(s Schema) []string {
	if s.Items != nil && len(s.Enum) == 0 {
		s = *s.Items
	}
	if len(s.Enum) > 0 || s.Pattern == "" {
		return s.Enum
	}
	pattern, err := regexp.Compile(s.Pattern)
	group := regexp.MustCompile(`\(\??:?([A-Za-z][\w.]*(?:\|[A-Za-z][\w.]*)*)\)`).FindStringSubmatch(s.Pattern)
	if err != nil || group == nil {
		return nil
	}
	var out []string
	for word := range strings.SplitSeq(group[1], "|") {
		for _, form := range []string{"", "-", ",asc", ",desc", ":asc", ":desc"} {
			value := word + form
			if form == "-" {
				value = form + word
			}
			if pattern.MatchString(value) {
				out = append(out, value)
			}
		}
	}
	return out
}

// orderBy reads a value such as -deadline, deadline:desc, "deadline,desc" or deadlineAsc.
func (o Operation) orderBy(p Parameter, value, direction string) Order {
	words := Words(firstKey(value))
	order := Order{Down: strings.HasPrefix(value, "-"), Certain: strings.HasPrefix(value, "-") || strings.HasPrefix(value, "+")}
	if n := len(words); n > 1 && isDirection(words[n-1]) {
		order.Down, order.Certain = strings.HasPrefix(words[n-1], "desc"), true
		words = words[:n-1]
	}
	if isDirection(direction) {
		order.Down, order.Certain = strings.HasPrefix(strings.ToLower(direction), "desc"), true
	}
	if !order.Certain { // a word whose opposite has a "-" means ascending
		order.Certain = slices.Contains(wordsOf(p.Schema), "-"+value)
	}
	if value := strings.TrimLeft(value, "+-"); direction == "" && order.Certain && plainMeansDown(p.Description, value) {
		order.Down = !order.Down
	}
	order.By = strings.Join(words, "")
	order.Apart = standApart(p.Description) || standApart(o.Description)
	return o.withPromises(order, p.Description)
}

// A Column holds the value of a member in each item of a list, "" where an item has none.
type Column struct {
	Path   string
	Values []string
	kind   columnKind
	// currencies are those of the amounts if they differ, because only amounts of one currency can be compared; else nil.
	currencies []string
}

type columnKind string

const (
	numberColumn  columnKind = "numbers"
	instantColumn columnKind = "times"
	dateColumn    columnKind = "dates"
	serialColumn  columnKind = "texts with numbers"
	textColumn    columnKind = "texts"
)

// ColumnOf returns the values of the member by which an order sorts. ok is false if no single member fits, or if an item has several values of it.
func ColumnOf(items [][]byte, by string) (c Column, ok bool) {
	members := MembersOf(items)
	path, found := members.SortedBy(by)
	if !found || strings.Contains(path, "[]") {
		return c, false
	}
	c = Column{Path: path, kind: numberColumn}
	numbers, instants, dates := true, true, true
	decimal := regexp.MustCompile(`^-?\d+\.\d{2}$`)
	for _, item := range items {
		if isTextAt(item, path) && !decimal.MatchString(MemberValue(item, path)) {
			numbers = false // texts of digits may be sorted as texts
		}
		values := MemberValues(item, path)
		if len(values) > 1 {
			return c, false
		}
		if len(values) == 0 || values[0] == "" {
			c.Values = append(c.Values, "")
			continue
		}
		value := values[0]
		_, notNumber := strconv.ParseFloat(value, 64)
		_, notInstant := time.Parse(time.RFC3339, value)
		_, notDate := time.Parse(time.DateOnly, value)
		numbers, instants, dates = numbers && notNumber == nil, instants && notInstant == nil, dates && notDate == nil
		c.Values = append(c.Values, value)
	}
	switch {
	case numbers:
	case instants:
		c.kind = instantColumn
	case dates:
		c.kind = dateColumn
	case isSerial(c.Values):
		c.kind = serialColumn
	default:
		c.kind = textColumn
	}
	if _, named := members.Ending(by); !named && !numbers {
		return c, false
	}
	if seen := currenciesOf(items, members, path); hasSeveral(seen) {
		c.currencies = seen
	}
	return c, true
}

// isTextAt reports whether a member is a text.
func isTextAt(item []byte, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		item = memberOf(item, name)
	}
	return FirstByte(item) == '"'
}

// hasSeveral reports whether there are several currencies.
func hasSeveral(currencies []string) bool {
	seen := slices.DeleteFunc(slices.Clone(currencies), func(currency string) bool { return currency == "" })
	return slices.ContainsFunc(seen, func(currency string) bool { return currency != seen[0] })
}

// currenciesOf returns the currency of each item, "" if it has none: the values of the members beside a path whose names end in "currency".
func currenciesOf(items [][]byte, members Members, path string) []string {
	inside := path[:strings.LastIndexByte(path, '.')+1]
	out := make([]string, len(items))
	for _, m := range members {
		name, beside := strings.CutPrefix(m, inside)
		if words := Words(name); !beside || strings.Contains(name, ".") || len(words) == 0 || words[len(words)-1] != "currency" {
			continue
		}
		for i, item := range items {
			out[i] += MemberValue(item, m)
		}
	}
	return out
}

// SortedBy returns the member that a word of a sort parameter means: the one of that name, or else the only amount with that name.
func (m Members) SortedBy(word string) (path string, ok bool) {
	if path, ok = m.Ending(word); ok {
		return path, true
	}
	return m.amountOf(word)
}

// amountOf returns the only member whose name has a word and words for an amount: budget.amount, budgetEur or total_budget for budget.
func (m Members) amountOf(word string) (path string, ok bool) {
	extra := []string{"amount", "value", "total", "sum", "min", "max", "minimum", "maximum", "in", "eur", "euro", "euros", "chf", "usd", "gbp",
		"wert", "betrag", "summe", "gesamt", "höhe", "hoehe"}
	word = plainName(word)
	for _, p := range m {
		words := Words(strings.ReplaceAll(p, ".", " "))
		rest := slices.DeleteFunc(words, func(w string) bool { return plainName(w) == word })
		if strings.Contains(p, "[]") || len(rest) == len(words) || slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(extra, w) }) {
			continue
		}
		if ok {
			return "", false
		}
		path, ok = p, true
	}
	return path, ok
}

// isSerial reports whether texts differ only in a number at their end, and have the same length.
func isSerial(values []string) bool {
	prefix, length := "", 0
	for _, v := range values {
		if v == "" {
			continue
		}
		head := strings.TrimRight(v, "0123456789")
		if length == 0 {
			prefix, length = head, len(v)
		}
		if head != prefix || len(v) != length || head == v {
			return false
		}
	}
	return length > 0
}

// Exact reports whether the order of the values does not depend on a language, as that of texts does.
func (c Column) Exact() bool { return c.kind != textColumn }

// Misplaced returns the index of the first item that is out of order, compared with the last item before it that has a value; -1 if all are in order.
func (c Column) Misplaced(down bool) int {
	before := map[string]string{}
	for i, v := range c.Values {
		if v == "" {
			continue
		}
		currency := ""
		if c.currencies != nil {
			currency = c.currencies[i]
		}
		if last, any := before[currency]; any {
			if d := c.compare(last, v); d > 0 && !down || d < 0 && down {
				return i
			}
		}
		before[currency] = v
	}
	return -1
}

// Before returns the value with which [Column.Misplaced] compares the one at a place: the last before it, of the same currency.
func (c Column) Before(at int) string {
	for i := at - 1; i >= 0; i-- {
		if c.Values[i] != "" && (c.currencies == nil || c.currencies[i] == c.currencies[at]) {
			return c.Values[i]
		}
	}
	return ""
}

// Mixed reports whether the values are amounts of several currencies.
func (c Column) Mixed() bool { return c.currencies != nil }

func (c Column) compare(a, b string) int {
	switch c.kind {
	case numberColumn:
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	case instantColumn:
		s, _ := time.Parse(time.RFC3339, a)
		t, _ := time.Parse(time.RFC3339, b)
		return s.Compare(t)
	}
	return cmp.Compare(a, b)
}

// Absent says where items without a value are; [NoneAbsent] if there are none, or no others.
func (c Column) Absent() (place AbsentPlace) {
	n := len(c.Values)
	first := slices.IndexFunc(c.Values, func(v string) bool { return v == "" })
	if first < 0 {
		return NoneAbsent
	}
	absent := 0
	for _, v := range c.Values {
		if v == "" {
			absent++
		}
	}
	switch last := n - 1 - slices.Index(reversed(c.Values), ""); {
	case absent == n:
		return NoneAbsent
	case last-first+1 != absent:
		return AbsentBetween
	case first == 0:
		return AbsentFirst
	case last == n-1:
		return AbsentLast
	}
	return AbsentBetween
}

func reversed(values []string) []string {
	out := slices.Clone(values)
	slices.Reverse(out)
	return out
}

// AbsentPlace says where items without a value are in an order.
type AbsentPlace string

// The places of items without a value.
const (
	NoneAbsent    AbsentPlace = ""
	AbsentFirst   AbsentPlace = "first"
	AbsentLast    AbsentPlace = "last"
	AbsentBetween AbsentPlace = "between others"
)

// Equal reports whether two items have equal values.
func (c Column) Equal(i, j int) bool {
	if c.Values[i] == "" || c.Values[j] == "" {
		return c.Values[i] == c.Values[j]
	}
	return c.compare(c.Values[i], c.Values[j]) == 0
}

// Part returns a part of the column.
func (c Column) Part(start, end int) Column {
	c.Values = c.Values[start:end]
	if c.currencies != nil {
		c.currencies = c.currencies[start:end]
	}
	return c
}

// Pair returns the part with an item and the one before it.
func (c Column) Pair(i int) Column { return c.Part(i-1, i+1) }
