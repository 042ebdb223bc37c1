"""torch._VF: functions of the namespace torch under the name by which modules of other packages call them."""

from .nn.functional.recurrent import gru, lstm, rnn_relu, rnn_tanh
from .nn.functional.recurrent_cells import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from .tensors.functions.networks.packing import _pack_padded_sequence, _pad_packed_sequence

__all__ = ["_pack_padded_sequence", "_pad_packed_sequence", "gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu",
           "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell"]
