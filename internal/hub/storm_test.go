package hub_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestStorm: whatever the bus loses, doubles and delays, no matter who listens, leaves and
// comes again with the last id that counts, and however often the hub itself begins
// again: every listener hears every event of every session in order, none is passed over.
func TestStorm(t *testing.T) {
	seeds := uint64(12)
	switch {
	case os.Getenv("EARSHOT_SOAK") != "": // make soak
		seeds = 100
	case testkit.Raced:
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			onStage(t, func(s *stage) { s.storm(rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

// fan is a listener who reconnects as a browser does.
type fan struct {
	rate  int
	sub   *hub.Subscription
	ear   *ear
	point string
	heard []hub.Delivery
}

func (f *fan) leave() {
	f.ear.leave()
	for _, d := range f.ear.got {
		f.heard = append(f.heard, d)
		if d.Resumable {
			f.point = d.EventID
		}
	}
}

func (s *stage) storm(chance *rand.Rand) {
	eve := person("eve", access.Auditor)
	s.book.setWeather(func(deliver func()) {
		for range chance.IntN(3) {
			time.AfterFunc(time.Duration(chance.IntN(4000))*time.Millisecond, deliver)
		}
	})
	fans := make([]*fan, 4)
	for i := range fans {
		sub := s.subscribeAt(5*i, eve) // the first has no limit
		fans[i] = &fan{rate: 5 * i, sub: sub, ear: s.listen(sub, "")}
	}
	s.book.begin("sess_0", "ann") // so that everybody has a point
	<-time.After(5 * time.Second)
	open := []string{"sess_0"}
	for i := range 150 {
		switch n := chance.IntN(20); {
		case n == 0:
			session := fmt.Sprintf("sess_%d", i+1)
			s.book.begin(session, "ann")
			open = append(open, session)
		case n == 1 && len(open) > 1:
			s.book.end(open[1])
			open = slices.Delete(open, 1, 2)
		case n == 2:
			f := fans[chance.IntN(len(fans))]
			f.leave()
			<-time.After(time.Duration(chance.IntN(5000)) * time.Millisecond)
			f.ear = s.listen(f.sub, f.point)
		case n == 3 && chance.IntN(3) == 0:
			s.again(fans, eve)
		default:
			s.book.move(open[chance.IntN(len(open))], 1+chance.IntN(9))
		}
		<-time.After(time.Duration(chance.IntN(400)) * time.Millisecond)
	}
	<-time.After(10 * time.Minute)
	for i, f := range fans {
		f.leave()
		s.complete(fmt.Sprintf("listener %d", i), nil, f.heard, s.book.order...)
	}
	<-time.After(5 * time.Second) // the last of the weather
}

// again stops the hub and starts another.
func (s *stage) again(fans []*fan, who access.Principal) {
	s.halt()
	s.book.move("sess_0", 2)
	s.start()
	for _, f := range fans {
		f.leave()
		f.sub = s.subscribeAt(f.rate, who)
		f.ear = s.listen(f.sub, f.point)
	}
}
