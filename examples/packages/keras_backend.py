"""keras: layers, training and files of Keras, on the backend for PyTorch."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch
from keras import layers


def main() -> None:
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    pictures = random.standard_normal((64, 8, 8, 1)).astype("float32")
    labels = (pictures.mean((1, 2, 3)) > 0).astype("int64")
    model = keras.Sequential([
        layers.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.1), layers.Dense(2)])
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], run_eagerly=True)
    history = model.fit(pictures, labels, batch_size=16, epochs=5, verbose=0, shuffle=False).history
    print("losses", [round(loss, 4) for loss in history["loss"]])
    print("scores", [round(score, 4) for score in model.evaluate(pictures, labels, verbose=0)])

    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        again = keras.models.load_model(f"{folder}/model.keras")
    same = np.allclose(model.predict(pictures, verbose=0), again.predict(pictures, verbose=0), atol=1e-6)
    print(f"saved and loaded: {same}, {model.count_params()} numbers")

    tokens = layers.Input((6,), dtype="int32")
    hidden = layers.Embedding(20, 8)(tokens)
    hidden = layers.LayerNormalization()(hidden + layers.MultiHeadAttention(2, 4)(hidden, hidden))
    hidden = layers.GRU(8)(layers.Bidirectional(layers.LSTM(4, return_sequences=True))(hidden))
    text = keras.Model(tokens, layers.Dense(1)(hidden))
    text.compile("sgd", "mse", run_eagerly=True)
    words = random.integers(0, 20, (32, 6))
    found = text.fit(words, words.mean(1), batch_size=8, epochs=3, verbose=0, shuffle=False).history["loss"]
    print("text", [round(loss, 4) for loss in found])

    x = torch.linspace(-1, 1, 5, requires_grad=True)
    y = keras.ops.sum(keras.ops.logaddexp(x, 0.5) * keras.ops.gelu(x))
    y.backward()
    print("torch's gradient", [round(slope, 4) for slope in x.grad.tolist()], f"{y.item():.5f}")


if __name__ == "__main__":
    main()
