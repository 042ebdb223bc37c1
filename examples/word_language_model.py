"""An LSTM learns sentences word by word, and then writes sentences of its own.

The sentences come from a small grammar. A singular subject needs another verb than a plural subject, so the network
must remember the subject over the words in between. The text is cut into columns, which are read in chunks of ten
words. The state of the LSTM goes on from chunk to chunk, without its graph.
"""

import argparse
import io
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

CHUNK, COLUMNS = 10, 20
NOUNS = {"cat": "cats", "dog": "dogs", "bird": "birds", "girl": "girls"}
VERBS = {"sees": "see", "likes": "like", "hears": "hear"}
ADJECTIVES = ["small", "old", "quiet", "clever"]


def sentence(rng: random.Random) -> list[str]:
    """A sentence of the grammar, which ends with a full stop."""

    def phrase() -> tuple[list[str], bool]:
        plural = rng.random() < 0.5
        one, many = rng.choice(sorted(NOUNS.items()))
        adjectives = rng.sample(ADJECTIVES, rng.choice([0, 1, 1, 2]))
        return [rng.choice(["the", "many"] if plural else ["the", "a"]), *adjectives, many if plural else one], plural

    (subject, plural), (object_, _) = phrase(), phrase()
    return [*subject, rng.choice(sorted(VERBS.items()))[plural], *object_, "."]


class Corpus:
    """A text of numbered words, in columns: `columns[i + 1, j]` is the word after `columns[i, j]`."""

    def __init__(self, sentences: int, seed: int) -> None:
        rng = random.Random(seed)
        words = [word for _ in range(sentences) for word in sentence(rng)]
        self.words = sorted(set(words))
        numbers = {word: number for number, word in enumerate(self.words)}
        text = torch.tensor([numbers[word] for word in words])
        rows = len(text) // COLUMNS
        self.columns = text[: rows * COLUMNS].view(COLUMNS, rows).t().contiguous()

    def chunks(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Chunks of the columns, each with the words that come next."""
        starts = range(0, len(self.columns) - CHUNK, CHUNK)
        return [(self.columns[i : i + CHUNK], self.columns[i + 1 : i + 1 + CHUNK].reshape(-1)) for i in starts]


class LanguageModel(nn.Module):
    """Embedding, two layers of LSTM, and a decoder that shares its weight with the embedding."""

    def __init__(self, words: int, width: int = 48) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, num_layers=2, dropout=0.1)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(
        self, words: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        output, state = self.rnn(self.drop(self.encoder(words)), state)
        decoded = self.decoder(self.drop(output))
        return F.log_softmax(decoded.view(-1, decoded.size(2)), dim=1), state

    def start(self, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The state before the first word: zeros."""
        weight = next(self.parameters())
        shape = self.rnn.num_layers, columns, self.rnn.hidden_size
        return weight.new_zeros(*shape), weight.new_zeros(*shape)


# The classes of which a saved model consists. `torch.load` refuses other classes.
PARTS = [LanguageModel, nn.Dropout, nn.Embedding, nn.LSTM, nn.Linear]


def train_step(
    model: LanguageModel,
    optimizer: torch.optim.Optimizer,
    words: torch.Tensor,
    following: torch.Tensor,
    state: tuple[torch.Tensor, torch.Tensor],
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """One step on one chunk. Returns the loss and the state after the chunk."""
    hidden, cell = state
    optimizer.zero_grad()
    output, state = model(words, (hidden.detach(), cell.detach()))
    loss = F.nll_loss(output, following)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.detach(), state


def evaluate(model: LanguageModel, corpus: Corpus) -> float:
    """The mean loss of a word."""
    model.eval()
    state, losses = model.start(COLUMNS), []
    with torch.no_grad():
        for words, following in corpus.chunks():
            output, state = model(words, state)
            losses.append(F.nll_loss(output, following))
    model.train()
    return torch.stack(losses).mean().item()


def write(model: LanguageModel, words: list[str], count: int) -> str:
    """Words that the model draws, one after the other."""
    model.eval()
    word, state, text = torch.tensor([[words.index(".")]]), model.start(1), []
    with torch.no_grad():
        for _ in range(count):
            output, state = model(word, state)
            word = torch.multinomial(output.squeeze().div(0.8).exp(), 1).view(1, 1)
            text.append(words[word.item()])
    return " ".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    training, held_out = Corpus(1500, seed=0), Corpus(200, seed=1)
    model = LanguageModel(len(training.words))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.25, patience=0)
    print(f"{training.columns.numel()} words to read, {len(training.words)} different ones")
    for epoch in range(1, options.epochs + 1):
        state, losses = model.start(COLUMNS), []
        for words, following in training.chunks():
            loss, state = train_step(model, optimizer, words, following, state)
            losses.append(loss.item())
        loss = evaluate(model, held_out)
        schedule.step(loss)
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, perplexity {math.exp(loss):.3f}")

    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    with torch.serialization.safe_globals(PARTS):
        loaded = torch.load(file)
    print(f"saved and loaded: {type(loaded).__name__}, perplexity {math.exp(evaluate(loaded, held_out)):.3f}")
    print(write(loaded, training.words, 40))


if __name__ == "__main__":
    main()
