package hub_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestHeardAtOnce: a session that the terms or the rights have left out is heard as soon as these allow it, without another
// event: on the same stream, and by a subscriber who comes back with other terms.
func TestHeardAtOnce(t *testing.T) {
	wider := func(s *stage, sub *hub.Subscription) {
		if _, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{
			Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(`{"session_ids":["sess_a","sess_b"]}`)},
		}}); rejected != nil || err != nil {
			t.Fatal(rejected, err)
		}
	}
	for by, role := range map[string]access.Role{"terms": access.Auditor, "rights": access.Listener, "resumption": access.Auditor} {
		t.Run(by, func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.book.begin("sess_a", "ann")
				s.book.begin("sess_b", "bob")
				var only []string
				if by != "rights" {
					only = []string{"sess_a"}
				}
				sub := s.subscribe(person("ann", role), only...)
				e := s.listen(sub, "")
				s.book.move("sess_b", 2)
				s.book.move("sess_a", 2)
				before := e.all()
				switch by {
				case "terms":
					wider(s, sub)
				case "rights":
					s.badges.promote("ann", access.Auditor)
				case "resumption":
					e.leave()
					wider(s, sub)
					e, before = s.listen(sub, before[len(before)-1].EventID), nil
				}
				live, _ := e.told()
				s.want("heard without another event", live[len(live)-3:], numbered("sess_b", 1, 3))
				if len(live) > len(before)+3 {
					t.Errorf("heard %v", live)
				}
				e.leave()
			})
		})
	}
}
