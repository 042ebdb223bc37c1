"""torchinfo: writes the table of a convolutional and of a recurrent network, with sizes and multiplications."""

import torch
from torch import nn
from torchinfo import summary


class Reader(nn.Module):
    """An embedding, a recurrent layer, and a decision."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 6)
        self.memory = nn.LSTM(6, 8, num_layers=2, batch_first=True)
        self.decision = nn.Linear(8, 2)

    def forward(self, words: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        states, _ = self.memory(self.embedding(words))
        return self.decision(states[:, -1]) * scale


def main() -> None:
    torch.manual_seed(0)
    picture = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Sequential(nn.Conv2d(8, 4, 1, bias=False), nn.Dropout(0.5)),
        nn.Flatten(),
        nn.Linear(4 * 64, 10),
    )
    shown = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")
    print(summary(picture, input_size=(2, 3, 16, 16), col_names=shown, row_settings=("depth", "var_names"), verbose=0))
    reader = Reader()
    reader.embedding.weight.requires_grad_(False)
    result = summary(reader, input_data=torch.randint(30, (5, 7)), scale=2.0, col_names=shown, verbose=0)
    print(result)
    print(f"{result.total_params} numbers, {result.trainable_params} are trained, {result.total_mult_adds} products")


if __name__ == "__main__":
    main()
