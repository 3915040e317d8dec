package admission

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// MayUse reports whether the turn may use a box of its owner's. What a person's own request names, it may. A turn that a
// program has started within another has, of the boxes that hold something, those of the turn above and those that
// this turn, that one, or another turn within that one has filled first: no agent reaches other work by naming it.
func (t *Tx) MayUse(box string) (bool, error) {
	st, tx := *t.of, t.tx
	if st.Within.Spawner == "" {
		return true, nil
	}
	entries, err := tx.BoxEntries(store.BoxFilter{Owner: st.Owner, Box: box, Use: string(api.BoxWrite), Limit: 1})
	if err != nil || len(entries) == 0 || entries[0].Turn == st.Turn || entries[0].Turn == st.Parent {
		return err == nil, err
	}
	above, err := tx.Turn(store.TurnRef{Turn: st.Parent})
	if err != nil || box == above.State.Boxes.ContextBox || box == above.State.Boxes.OutputBox {
		return err == nil, ignoreMissing(err)
	}
	first, err := tx.Turn(store.TurnRef{Turn: entries[0].Turn})
	return err == nil && first.State.Parent == st.Parent, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// checkBoxes refuses a turn that may not use its boxes.
func (t *Tx) checkBoxes() error {
	for _, box := range []string{t.of.Boxes.ContextBox, t.of.Boxes.OutputBox} {
		if box == "" {
			continue
		}
		if err := t.CheckBox(box); err != nil {
			return err
		}
	}
	return nil
}

// CheckBox refuses a box that the turn may not use.
func (t *Tx) CheckBox(box string) error {
	may, err := t.MayUse(box)
	if err != nil || may {
		return err
	}
	return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf("the turn may not use the box %.128q: it is neither of the turn that starts it, nor filled by it or within it", box))
}
