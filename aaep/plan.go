package aaep

import (
	"fmt"
	"slices"
	"sync"
)

// The table is compiled into plans at its first use, in which every question that a message asks
// of the table is answered by a few comparisons.

// plan is one message, ready to be judged.
type plan struct {
	Message
	outer    rows // every member: of an event the envelope's, then the payload's
	envelope int  // how many of them are the envelope's
}

// rows are the members of one object.
type rows struct {
	list        []row
	slots       []uint8 // by hash: 1 + the index in list, or 0
	shift       uint
	required    uint64 // by index in list
	recommended uint64
	closed      string // the rule against other members; "" lets them pass
	spec        string
}

// row is one field, ready to be judged. Its section is filled in.
type row struct {
	Field
	index  int
	known  Known // of a member of an event, where it is
	kinds  kindSet
	match  matcher
	item   *row
	inner  *rows
	each   *row
	limits bool // there is something to ask of the length
	// missing is the rule that its absence breaks, where it is required.
	missing string
	path    string // its pointer below the object
}

// absence says that the member is absent.
func (r *row) absence() string {
	if !r.Required {
		return fmt.Sprintf("found no %q, expected it wherever people may hear of it", r.Name)
	}
	return fmt.Sprintf("found no %q, expected %s", r.Name, article(r.Kind))
}

// mute says that the text of the member is in no language.
func (r *row) mute() string {
	return fmt.Sprintf("found %q without a language, expected localization_hints with primary_language", r.Name)
}

// kindSet is a set of kinds of nodes.
type kindSet uint8

func (k kind) set() kindSet { return 1 << k }

// kindsOf returns the nodes that a kind of field may be.
func kindsOf(k Kind) kindSet {
	switch k {
	case KindString:
		return kindString.set()
	case KindInteger, KindNumber:
		return kindNumber.set()
	case KindBoolean:
		return kindBool.set()
	case KindObject:
		return kindObject.set()
	case KindArray:
		return kindArray.set()
	case KindScalar:
		return kindString.set() | kindBool.set() | kindNumber.set()
	case KindContext:
		return kindString.set() | kindArray.set()
	default:
		return 0
	}
}

// plans are the messages of the table by their type.
var plans = sync.OnceValue(func() map[string]*plan {
	all := make(map[string]*plan, len(table()))
	for _, m := range table() {
		all[m.Type] = compilePlan(m)
	}
	return all
})

// unknownType is the plan of events of a type that the table does not have.
var unknownType = sync.OnceValue(func() *plan { return compilePlan(Message{Event: true, Spec: "§3.2"}) })

func compilePlan(m Message) *plan {
	p := &plan{Message: m}
	var outer []row
	if m.Event {
		outer = envelopeRows()
		p.envelope = len(outer)
	}
	p.outer = index(slices.Concat(outer, compileList(m.Fields, m.Spec)), m.Closed, m.Spec)
	for i := range p.outer.list {
		p.outer.list[i].known = knownAs([]byte(p.outer.list[i].Name))
	}
	return p
}

// envelopeRows are the members that every event has.
var envelopeRows = sync.OnceValue(func() []row {
	list := compileList(envelope(), "")
	for i := range list {
		list[i].missing = "ENV-07"
	}
	return list
})

func compileRows(fields []Field, closed, spec string) rows {
	return index(compileList(fields, spec), closed, spec)
}

func compileList(fields []Field, spec string) []row {
	list := make([]row, len(fields))
	for i, f := range fields {
		list[i] = compileRow(f, spec)
	}
	return list
}

// index makes rows of a list that is the caller's own.
func index(list []row, closed, spec string) rows {
	compiled := rows{list: list, closed: closed, spec: spec}
	bits := uint(3)
	for 1<<bits < 4*len(list) {
		bits++
	}
	compiled.slots, compiled.shift = make([]uint8, 1<<bits), 64-bits
	for i := range list {
		f := &list[i]
		f.index = i
		if f.Required {
			compiled.required |= 1 << i
		} else if f.RecommendedBy != "" {
			compiled.recommended |= 1 << i
		}
		slot := hash([]byte(f.Name)) >> compiled.shift
		for compiled.slots[slot] != 0 {
			slot = (slot + 1) % (1 << bits)
		}
		compiled.slots[slot] = uint8(i + 1)
	}
	return compiled
}

func compileRow(f Field, spec string) row {
	if f.Spec == "" {
		f.Spec = spec
	}
	r := row{Field: f, kinds: kindsOf(f.Kind), match: patterns()[f.Pattern].match, limits: f.MinLen > 0 || f.MaxLen > 0, missing: f.Rule}
	r.path = pointer("", f.Name)
	if f.Item != nil {
		item := *f.Item
		item.Required, item.Safety = true, f.Safety
		if item.Rule == "" {
			item.Rule, item.Also = f.Rule, f.Also
		}
		compiled := compileRow(item, f.Spec)
		r.item = &compiled
	}
	if f.Members != nil {
		compiled := compileRows(f.Members, f.Closed, f.Spec)
		r.inner = &compiled
	}
	if f.Each != nil {
		compiled := compileRow(*f.Each, f.Spec)
		compiled.Safety = f.Safety
		r.each = &compiled
	}
	return r
}

// hash spreads names over the slots of a table.
func hash(name []byte) uint64 {
	n := len(name)
	if n == 0 {
		return 0
	}
	h := uint64(n) | uint64(name[0])<<8 | uint64(name[n-1])<<16 | uint64(name[n/2])<<24 | uint64(name[n*3/4])<<32
	return h * 0x9e3779b97f4a7c15
}

// find returns the row of a name, or nil.
func (r *rows) find(name []byte) *row {
	slot := hash(name) >> r.shift
	for {
		i := r.slots[slot]
		if i == 0 {
			return nil
		}
		if found := &r.list[i-1]; found.Name == string(name) {
			return found
		}
		slot = (slot + 1) & uint64(len(r.slots)-1)
	}
}
